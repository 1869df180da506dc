import type { Correlation } from '@idunn/authority';
import { digestJson } from '@idunn/kernel';
import { type Correlated, correlate, type IncarnationKey, type Presence } from '@idunn/readiness';
import type { Process } from './process.ts';
import type { Projection, World } from './world.ts';

/** What the observer would sign about an incarnation now; `null` while it knows no Expected. */
export function correlationOf(world: World, key: IncarnationKey): Correlation | null {
  const projection = world.projections.get(key);
  if (projection === undefined) return null;
  const { activation } = projection;
  const process = activation === null ? undefined : world.processes.get(activation.activation);
  const presence = process?.joined === true ? process.relayed() : null;
  const present =
    presence === null
      ? null
      : {
          state: presence.state,
          epoch: presence.epoch,
          sequence: presence.header.sequence,
          observedAtMs: process?.quietSinceMs ?? world.time.monotonicMs,
          fresh: process?.alive === true,
        };
  return {
    incarnation: key,
    activation: activation?.activation ?? null,
    present,
    // A receipt stays what it was: about the activation and epoch that it was signed for.
    ready: process?.joined === false ? null : projection.ready,
    disagreements: presence === null ? [] : judged(key, projection, presence).disagreements,
  };
}

/** What the presence at hand came to when it was last held against what was expected and observed. */
interface Judgement {
  readonly presence: Presence;
  readonly observed: Projection['observed'];
  readonly obstacles: Correlated['obstacles'];
  readonly disagreements: Correlated['disagreements'];
}
const judgements = new WeakMap<Projection, Judgement>();

/** The real correlation, asked anew only when something else is said or observed. */
function judged(key: IncarnationKey, projection: Projection, presence: Presence): Judgement {
  const known = judgements.get(projection);
  const { observed, expected, activation } = projection;
  const same = known?.observed === observed && isSame(known.presence, presence);
  if (known !== undefined && same) return known;
  const word = { presence, digest: projection.expected.release, receivedAtMs: 0 };
  const { obstacles, disagreements } = correlate({ key, expected, activation, observed, presence: word, nowMs: 0 });
  const judgement = { presence, observed, obstacles, disagreements };
  judgements.set(projection, judgement);
  return judgement;
}

const isSame = (one: Presence, other: Presence): boolean =>
  one.activation === other.activation && one.header.sequence === other.header.sequence && one.epoch === other.epoch;

/** Notes what the observer has come to know of the current activation of an incarnation. */
export function noteJudged(world: World, key: IncarnationKey): void {
  const said = correlationOf(world, key);
  if (said?.present && said.activation !== null) world.ledger.note({ kind: 'judged', activation: said.activation });
}

/** The observer hears what a program has just said, unless it says it to Idunn alone, and holds it against the rest. */
export function hear(world: World, process: Process): void {
  const { incarnation } = process.activation;
  const isCurrent = world.projections.get(incarnation)?.activation?.activation === process.id;
  const isHeard = world.observerUp && process.joined && process.relayed()?.header.sequence === process.sequence;
  if (isCurrent && isHeard) noteJudged(world, incarnation);
  noteReady(world, incarnation);
}

/** Signs Ready when everything agrees: for exactly this activation, presence and epoch. */
export function noteReady(world: World, key: IncarnationKey): void {
  const projection = world.projections.get(key);
  const process = world.processes.get(projection?.activation?.activation ?? '');
  const presence = process?.joined === true ? process.relayed() : null;
  if (projection === undefined || process === undefined || presence === null) return;
  if (!world.observerUp || !process.alive || presence.state !== 'active') return;
  if (judged(key, projection, presence).obstacles.length > 0) return;
  const { activation, epoch, header } = presence;
  if (projection.ready?.activation === activation && projection.ready.epoch === epoch) return;
  projection.ready = {
    receipt: digestJson({ key, activation, epoch, sequence: header.sequence }),
    activation,
    epoch,
    sequence: header.sequence,
    observedAtMs: world.time.monotonicMs,
  };
  world.ledger.note({ kind: 'ready', incarnation: key, activation, epoch });
}
