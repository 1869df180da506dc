import type { Digest, Outcome } from '@idunn/kernel';
import type { SourceFacts } from '../model/source-facts.ts';

export interface SourceRequest {
  readonly target: string;
  readonly origin: string;
  readonly ref: string;
  readonly selection: SourceFacts['selection'];
  /** The full id of the commit that is wanted; `null` for the newest of the ref. */
  readonly commit: string | null;
  /** By whose word the commit was selected; goes into the facts as it is. */
  readonly authorization: SourceFacts['authorization'];
  readonly minimumRevision: string;
  readonly recipePath: string;
  /** The submodules that may be fetched: whole path, origin, and the ref that must contain the recorded commit. */
  readonly submodules: readonly { readonly path: string; readonly origin: string; readonly ref: string }[];
  /** Whether files that stand for others in large-file storage are staged as they are. */
  readonly lfsPointers: 'refuse' | 'keep';
  /** Whether names of one directory may differ by case, composition or invisible code points alone. */
  readonly collidingNames: 'refuse' | 'keep';
}

export interface ResolvedSource {
  readonly facts: SourceFacts;
  /** The recipe's exact bytes in base64, of the commit that the facts name. */
  readonly recipe: string;
  /** How long a network was waited for; 0 for a source on this machine. */
  readonly fetchMs: number;
}

/** Reads a source and copies it out. It never writes to the origin and never makes a work tree of it. */
export interface SourcePort {
  /** Fetches the ref, proves the facts and reads the recipe. Refused unless everything is proven. */
  resolve(request: SourceRequest, signal: AbortSignal): Promise<Outcome<ResolvedSource>>;
  /**
   * Copies the exact tree into the stage, which must not hold a tree yet, and verifies what is on disk against the
   * facts. The answer is the digest of the verified tree.
   */
  stage(target: string, facts: SourceFacts, stage: StageId, signal: AbortSignal): Promise<Outcome<Digest>>;
}

/** Names one stage under the authority's stage directory: a target, a dash and the 64 digits of a plan's digest. */
export type StageId = string;
