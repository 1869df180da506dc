import type { Digest, Evidence } from '@idunn/kernel';
import type { Steward } from '@idunn/release';
import type { Stop, StopKind } from '../stops/record.ts';

export interface Freeze {
  /** Who holds: for a steward the binding's word, never the record's own. */
  readonly by: string;
  readonly reason: string;
  readonly since: string;
  /** Digest of the record's exact bytes. */
  readonly record: Digest;
  /** The command that clears it. */
  readonly clearedBy: string;
  /** Other stops that hold as well. */
  readonly also?: readonly Freeze[];
  /** What could not be read beside it, and holds too. */
  readonly unreadable?: readonly string[];
}

/** Which stop: of a target or of the whole fleet, the fleet's own or its steward's. */
export interface StopName {
  readonly kind: StopKind;
  /** `WHOLE_FLEET` for all of them. */
  readonly target: string;
  /** The steward's login as the binding names it; `null`: the fleet's own. */
  readonly steward: string | null;
}

/** A stop as its file stands now, engaged or clear. */
export interface StandingStop extends StopName {
  /** Whose word it is, by the owner of the file: the steward, or the user of the fleet. */
  readonly holder: string;
  readonly stop: Evidence<Stop>;
  /** The command that clears or replaces it. */
  readonly clearedBy: string;
}

/** Reads the stops on a target. `absent` admits, `seen` and `unknown` hold (I8, I10). */
export interface FreezePort {
  /** `steward`: as it stands in the plan of the deployment that asks. */
  read(target: string, steward: Steward | null): Promise<Evidence<Freeze>>;
  /** The stop on restarts: it suspends continuity and nothing else. */
  readHold(target: string): Promise<Evidence<Freeze>>;
  /**
   * Every stop that stands in a file, and each of `known` whether it does or not. Without it no change of a stop
   * reaches the history.
   */
  standing?(known: readonly StopName[]): Promise<readonly StandingStop[]>;
  /** Told whenever the file of a stop may have changed, until the answer is called. */
  watch?(changed: () => void): () => void;
}
