import { gated } from '../checkers/gated.ts';
import type { Checked, Judged, Violation } from '../checkers/judged.ts';
import { noReplay } from '../checkers/no-replay.ts';
import { observedNotConfigured } from '../checkers/observed.ts';
import { oneWriter } from '../checkers/one-writer.ts';
import { sealed } from '../checkers/sealed.ts';
import { twoAuthorities } from '../checkers/two-authorities.ts';
import { CALM, type Scenario } from '../scenario.ts';
import type { Deed, Entry } from '../world/ledger.ts';
import type { World } from '../world/world.ts';
import { type Small, TARGET } from './kinds.ts';
import type { Move } from './moves.ts';
import { recordOf } from './records.ts';
import type { State } from './state.ts';
import { named, type SmallWorld, writes } from './world.ts';

const violation = (of: Checked, detail: string): Violation => ({ of, atMs: 0, detail });

/** What a step breaks: the checkers of runs look at it as at a run, and what only a step shows is held beside them. */
export function broken(small: Small, from: State, move: Move): readonly Violation[] {
  const { deeds, told, faults } = move;
  const found: Violation[] = faults.map((fault) => violation('fault', String(fault)));
  const isTold = told.some(({ event }) => event === 'outcome');
  if (deeds.length > 0 || isTold || from.world !== move.to.world) {
    const judged = asRun(small, from.world, move);
    for (const check of [oneWriter, sealed, gated, observedNotConfigured, noReplay]) found.push(...check(judged.world));
    found.push(...twoAuthorities(judged));
  }
  return [...found, ...deeds.flatMap((deed) => ofDeed(small, from, deed)), ...frozen(from, move)];
}

function ofDeed(small: Small, from: State, deed: Deed): readonly Violation[] {
  const target = recordOf(from.records, 'target', TARGET);
  const isUntouchable = (id: string): boolean =>
    target?.takenBy === null && target.admitted?.document.activation === id;
  switch (deed.kind) {
    case 'row':
      if (deed.activation === null || deed.epoch > from.world.highest) return [];
      return [violation('I5', `${deed.activation} was named under epoch ${deed.epoch} after ${from.world.highest}`)];
    case 'asked':
      return isUntouchable(deed.activation) ? [violation('I7', `${deed.activation} was asked without an intent`)] : [];
    case 'ended': {
      const isOurs = deed.asked && isUntouchable(deed.activation);
      return isOurs ? [violation('I7', `${deed.activation} was ended without an intent`)] : [];
    }
    case 'started':
      if (small.shape.alone !== true || deed.beside.length === 0) return [];
      return [violation('apart', `${deed.activation} was started beside ${deed.beside.join(' and ')}`)];
    default:
      return [];
  }
}

/** I8: the reading of a freeze and the intent that it admits are one step here: none follows while it is engaged. */
function frozen(from: State, { told, to }: Move): readonly Violation[] {
  if (!from.world.frozen) return [];
  return told.flatMap((event) => {
    if (event.event !== 'phase' || event.tookMs !== null || !IRREVERSIBLE.has(event.phase)) return [];
    const tx = recordOf(to.records, 'transaction', event.transaction);
    return tx?.request.kind === 'up' ? [violation('I8', `${event.phase} was entered under a freeze`)] : [];
  });
}

const IRREVERSIBLE: ReadonlySet<string> = new Set(['expected-published', 'incumbent-fenced']);

/** One step as a run: what stood before it, what it did, and a write of everyone who can write after it. */
function asRun({ shape }: Small, before: SmallWorld, { to, deeds, told }: Move): Judged {
  const { world } = to;
  const past: Deed[] = [
    ...Object.entries(before.rows).map(([store, row]) => rowDeed(`${TARGET}/${store}`, row)),
    ...Object.values(before.file).map((row) => rowDeed(`${TARGET}/lease`, row)),
    ...Object.values(before.programs).map(({ activation, executable, sealed: as }) => {
      return { kind: 'started', activation: activation.activation, executable, sealed: as, beside: [] } as const;
    }),
    ...Object.values(before.projections).flatMap(({ ready }) => (ready === null ? [] : [readyDeed(before, ready)])),
  ];
  const holder = named(world);
  const after = Object.values(world.programs)
    .filter((program) => writes(world, program))
    .map(({ activation: { activation }, gate, granted }): Deed => {
      const epoch = (gate === 'none' ? granted : holder?.epoch) ?? 0;
      return { kind: 'write', request: 0, activation, epoch };
    });
  const outcomes = told.flatMap((event): Deed[] => {
    if (event.event !== 'outcome' || (event.outcome !== 'admitted' && event.outcome !== 'restored')) return [];
    const row = holder?.activation ?? null;
    const members = world.route?.members.map(({ activation }) => activation) ?? [];
    const route = shape.routed ? members : null;
    const about = { target: TARGET, transaction: event.transaction, incarnation: event.incarnation, row, route };
    return [event.outcome === 'admitted' ? { kind: 'told-admitted', ...about } : { kind: 'told-restored', ...about }];
  });
  const entries = [...past, ...deeds, ...after, ...outcomes].map((deed): Entry => ({ ...deed, atMs: 0 }));
  const programs = { ...before.programs, ...world.programs };
  const run = {
    ledger: { entries, of: (kind: Deed['kind']) => entries.filter((entry) => entry.kind === kind) },
    processes: new Map(Object.entries(programs)),
    activations: new Map(Object.entries({ ...before.minted, ...world.minted })),
    projections: new Map(),
    plans: new Map(),
  };
  const scenario: Scenario = { ...CALM, seed: 0, shapes: { [TARGET]: shape }, deploys: [] };
  return {
    world: run as unknown as World,
    scenario,
    shapes: scenario.shapes,
    deploys: [],
    results: [],
    clients: new Map(),
    ended: true,
    faults: [],
    incidents: [],
  };
}

const rowDeed = (store: string, { epoch, activation }: { epoch: number; activation: string | null }): Deed => ({
  kind: 'row',
  store,
  epoch,
  activation,
});

function readyDeed(
  { programs, minted }: SmallWorld,
  { activation, epoch }: { readonly activation: string; readonly epoch: number | null },
): Deed {
  const { incarnation } = programs[activation]?.activation ??
    minted[activation] ?? { incarnation: `${TARGET}@sha256:` };
  return { kind: 'ready', incarnation, activation, epoch };
}

/**
 * Nothing is left to be done: no transaction is open, what is admitted lives and is what lease and route name, and
 * nothing else runs.
 */
export function settled(small: Small, { memory, hands, records, world }: State): boolean {
  if (memory === null || memory.due || hands.notices.length > 0 || memory.vigil.running.length > 0) return false;
  const target = recordOf(records, 'target', TARGET);
  if (target === null || target.queue.length > 0 || target.draining.length > 0) return false;
  if (target.takenBy !== null || target.restart !== null || target.stranded !== null) return false;
  const alive = Object.values(world.programs).filter((program) => program.alive);
  if (target.admitted === null) return alive.length === 0;
  const [only, ...others] = alive;
  if (only === undefined || others.length > 0) return false;
  const { activation } = target.admitted.document;
  if (only.activation.activation !== activation || only.said?.state !== 'active') return false;
  if (small.shape.stores > 0 && (named(world)?.activation !== activation || !writes(world, only))) return false;
  return !small.shape.routed || world.route?.members.every((member) => member.activation === activation) === true;
}
