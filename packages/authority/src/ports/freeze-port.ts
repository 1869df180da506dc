import type { Digest, Evidence } from '@idunn/kernel';
import type { Steward } from '@idunn/release';

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

/** Reads the stops on a target. `absent` admits, `seen` and `unknown` hold (I8, I10). */
export interface FreezePort {
  /** `steward`: as it stands in the plan of the deployment that asks. */
  read(target: string, steward: Steward | null): Promise<Evidence<Freeze>>;
  /** The stop on restarts: it suspends continuity and nothing else. */
  readHold(target: string): Promise<Evidence<Freeze>>;
}
