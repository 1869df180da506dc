import type { IncarnationKey } from '@idunn/readiness';
import { DOOMED } from '../world/behaviour.ts';
import type { Entry } from '../world/ledger.ts';
import type { TargetShape } from '../world/sources.ts';
import type { World } from '../world/world.ts';
import type { Judged, Violation } from './judged.ts';
import { forgotten, forgottenDeeds, isHeld } from './restored.ts';

/** The longest wait between two attempts, with the start of a program on top. */
const LONGEST_WAIT_MS = 300_000 + 10_000;
/** The same for one that is stuck past its fence: its cap, and the time that a launch takes to fail. */
const LONGEST_STUCK_MS = 5_000 + 10_000;

const targetOf = (incarnation: IncarnationKey): string => incarnation.slice(0, incarnation.lastIndexOf('@'));

/** What each target was told to have admitted last. */
export function admittedByTarget(world: World): ReadonlyMap<string, IncarnationKey> {
  const lost = forgottenDeeds(world);
  const told = world.ledger
    .of('told-admitted')
    .filter((entry) => !lost.has(entry))
    .flatMap(({ incarnation }) => (incarnation === null ? [] : [incarnation]));
  return new Map(told.map((incarnation) => [targetOf(incarnation), incarnation]));
}

/**
 * I9: what is admitted is restarted for ever. Once faults have ceased every target that ever admitted anything is
 * served: somebody of it lives, is active, and is named by lease and route. While nobody lived, and no hold stood, the
 * next launch never came later than the longest wait.
 */
export const continuity = (judged: Judged): readonly Violation[] =>
  [...admittedByTarget(judged.world).keys()].flatMap((target) => {
    if (isHeld(judged, target)) return [];
    const detail = unsettled(judged, target);
    const { world } = judged;
    const down: readonly Violation[] = detail === null ? [] : [{ of: 'I9', atMs: world.time.nowMs, detail }];
    return [...down, ...longGaps(world, target)];
  });

/**
 * What must still come true of a target once faults have ceased; `null`: nothing. One that is stuck past its fence is
 * launched again and again by itself, and no launch of it may ever last.
 */
export function unsettled(
  { world, results, deploys, shapes }: Pick<Judged, 'world' | 'results' | 'deploys' | 'shapes'>,
  target: string,
): string | null {
  const lacking = missing(world, target, shapes[target]);
  if (lacking === null) return null;
  const isStuck = deploys.some((one, at) => one.target === target && results[at]?.outcome === 'operator-required');
  if (!isStuck) return `${target} was admitted; ${lacking}`;
  const last = world.ledger.of('started').findLast(({ activation }) => isActivationOf(world, activation, target));
  const holder = world.named(target)?.activation ?? last?.activation ?? '';
  if (last === undefined || world.processes.get(holder)?.alive === true) return null;
  const isTrying = world.time.nowMs - last.atMs <= (isReplaced(world, target) ? LONGEST_WAIT_MS : LONGEST_STUCK_MS);
  return isTrying ? null : `${target} is stuck, and nothing of it was launched since ${last.atMs} ms`;
}

/** Another transaction has come after the one that was stuck: what holds the lease is continuity's, with its waits. */
function isReplaced(world: World, target: string): boolean {
  const stuck = world.ledger
    .of('told-ended')
    .findLast((told) => told.target === target && told.outcome === 'operator-required');
  const begun = world.ledger.of('told-phase').findLast((told) => told.target === target);
  return stuck !== undefined && begun !== undefined && begun.transaction !== stuck.transaction;
}

const isActivationOf = (world: World, activation: string, target: string): boolean =>
  world.processes.get(activation)?.activation.target === target;

/** What keeps a target from being served: somebody lives, is active, and both authorities name it. `null`: nothing. */
function missing(world: World, target: string, shape: TargetShape | undefined): string | null {
  const stateful = (shape?.stores ?? 0) > 0;
  // Without state nothing names a launch whose records went when older ones were put back: it is not the one on duty.
  const unknown = stateful ? new Set<string>() : forgotten(world);
  const every = [...world.processes.values()].filter((one) => one.activation.target === target);
  const launched = every.filter(({ id }) => !unknown.has(id));
  const last = launched.at(-1);
  if (last === undefined || DOOMED.has(last.behaviour)) return null;
  const living = launched.filter(({ alive }) => alive);
  if (living.length === 0) return 'nothing of it lives';
  const active = living.filter(({ state }) => state === 'active' || state === 'degraded');
  const [first] = active;
  if (first === undefined) return `${living.map(({ id }) => id).join(' and ')} never became active`;
  const named = world.named(target)?.activation;
  const holder = stateful ? active.find(({ id }) => id === named) : first;
  if (holder === undefined) return `its lease names ${named ?? 'nobody'}, and ${first.id} is active`;
  const routed = world.route(target)?.members.some(({ activation }) => activation === holder.id);
  return shape?.routed !== true || routed === true ? null : `${holder.id} is active, and no route leads to it`;
}

/** Spans in which nothing of the target lived, cut where a hold stood. */
function longGaps(world: World, target: string): readonly Violation[] {
  const found: Violation[] = [];
  let living = 0;
  let admitted = false;
  let held = false;
  let idleSince: number | null = null;
  const lost = forgottenDeeds(world);
  for (const entry of world.ledger.entries) {
    if (isOf(world, entry, target)) {
      if (entry.kind === 'told-admitted' && !lost.has(entry)) admitted = true;
      if (entry.kind === 'stop') held = entry.engaged;
      if (entry.kind === 'started') living += 1;
      if (entry.kind === 'ended') living -= 1;
    }
    const waits = admitted && !held && living === 0;
    if (idleSince !== null && entry.atMs - idleSince > LONGEST_WAIT_MS) {
      found.push({
        of: 'I9',
        atMs: entry.atMs,
        detail: `nothing of ${target} was launched for ${entry.atMs - idleSince} ms`,
      });
      idleSince = entry.atMs;
    }
    idleSince = waits ? (idleSince ?? entry.atMs) : null;
  }
  const waitedMs = idleSince === null ? 0 : world.time.nowMs - idleSince;
  if (waitedMs > LONGEST_WAIT_MS) {
    found.push({ of: 'I9', atMs: world.time.nowMs, detail: `nothing of ${target} was launched for ${waitedMs} ms` });
  }
  return found;
}

export function isOf(world: World, entry: Entry, target: string): boolean {
  switch (entry.kind) {
    case 'started':
    case 'ended':
      return isActivationOf(world, entry.activation, target);
    case 'told-admitted':
      return entry.incarnation !== null && targetOf(entry.incarnation) === target;
    case 'stop':
      return entry.stop === 'hold' && entry.target === target;
    default:
      return false;
  }
}
