import type { Digest, Evidence } from '@idunn/kernel';

export interface Freeze {
  readonly by: string;
  readonly reason: string;
  readonly since: string;
  /** Digest of the record's exact bytes. */
  readonly record: Digest;
  readonly clearedBy: string;
}

/** Reads the stops on a target's deployments. `absent` admits, `seen` and `unknown` hold (I8, I10). */
export interface FreezePort {
  read(target: string): Promise<Evidence<Freeze>>;
  /** The stop on restarts: it suspends continuity and nothing else. */
  readHold(target: string): Promise<Evidence<Freeze>>;
}
