import type { Digest } from '@idunn/kernel';
import type { Activation, Expected, IncarnationKey, ObservedRuntime } from '../model/expected.ts';
import type { Disagreement, Presence, PresenceState } from '../model/presence.ts';
import { isFresh } from '../presence/verify-presence.ts';
import { disagreements } from './disagreements.ts';

/** Everything known about one incarnation at one moment. Times are of the monotonic clock. */
export interface CorrelationInput {
  readonly key: IncarnationKey;
  readonly expected: Expected;
  /** The activation that the authority published as current, if any. */
  readonly activation: Activation | null;
  /** What the driver observed of it, if it did. */
  readonly observed: ObservedRuntime | null;
  /** The newest verified presence, if any. */
  readonly presence: { readonly presence: Presence; readonly digest: Digest; readonly receivedAtMs: number } | null;
  readonly nowMs: number;
}

/** The presence as it stands beside what was expected. */
export interface Present {
  readonly activation: string;
  readonly state: PresenceState;
  readonly epoch: number | null;
  readonly sequence: number;
  readonly digest: Digest;
  readonly fresh: boolean;
}

/** What keeps an incarnation from Ready. */
export type Obstacle =
  | 'not-activated'
  | 'not-observed'
  | 'at-its-gate'
  | 'not-present'
  | 'stale'
  | 'not-active'
  | 'no-epoch'
  | 'disagreement';

export interface Correlated {
  readonly present: Present | null;
  readonly disagreements: readonly Disagreement[];
  /** Empty when, and only when, the incarnation is Ready. */
  readonly obstacles: readonly Obstacle[];
}

/** Holds Expected, what was observed, and the workload's own word against each other (I4). Pure and total. */
export function correlate(input: CorrelationInput): Correlated {
  const { key, expected, activation, observed, presence } = input;
  // Issued but not published, or published but not observed: nothing it says establishes Present (I4).
  if (activation === null) return nothing('not-activated');
  if (observed === null) return nothing('not-observed');
  // A word of another launch is no word of this one (I5).
  if (presence === null || presence.presence.activation !== activation.activation) return nothing('not-present');

  const said = presence.presence;
  const fresh = isFresh(input.nowMs - presence.receivedAtMs, expected.health.freshnessMs);
  const differences = disagreements({ key, expected, activation, observed, presence: said });
  const obstacles: Obstacle[] = [];
  if (observed.gate === 'waiting') obstacles.push('at-its-gate'); // A launcher stands there, not the program (I2).
  if (!fresh) obstacles.push('stale'); // I5: an old word is not health.
  if (said.state !== 'active') obstacles.push('not-active'); // `degraded` is not ready either.
  if (expected.state !== null && said.epoch === null) obstacles.push('no-epoch'); // It may not write yet (I3).
  if (differences.length > 0) obstacles.push('disagreement');
  return {
    present: {
      activation: activation.activation,
      state: said.state,
      epoch: said.epoch,
      sequence: said.header.sequence,
      digest: presence.digest,
      fresh,
    },
    disagreements: differences,
    obstacles,
  };
}

const nothing = (obstacle: Obstacle): Correlated => ({ present: null, disagreements: [], obstacles: [obstacle] });
