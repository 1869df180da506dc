import type { Digest, Outcome } from '@idunn/kernel';
import type { ArtifactSpec } from '../model/plan.ts';
import type { SealedArtifact, SealedRelease } from '../model/sealed-release.ts';
import type { SourceFacts } from '../model/source-facts.ts';
import type { StageId } from './source-port.ts';

/** The authority-owned stages on this machine. */
export interface StagePort {
  /** An empty stage in place of whatever was there, after other stages of the target are thrown away. */
  begin(target: string, stage: StageId, keep: ReadonlySet<StageId>): Promise<Outcome<'empty'>>;
  /**
   * The tree's digest when the stage holds exactly the tree of the facts and nothing was run in it; `null` otherwise.
   */
  verified(stage: StageId, facts: SourceFacts): Promise<Digest | null>;
  /** Marks a stage as holding exactly what materializing put there. */
  mark(stage: StageId): Promise<void>;
  /** Marks a stage as about to be changed by steps: it is never taken for the exact tree again. */
  spoil(stage: StageId): Promise<void>;
  /** The digest of a regular file of the tree, reached without a link; `null` for anything else. */
  fileDigest(stage: StageId, path: string): Promise<Digest | null>;
  /** Digests what the steps left. */
  artifact(stage: StageId, spec: ArtifactSpec): Promise<Outcome<SealedArtifact>>;
  discard(stage: StageId): Promise<void>;
  list(): Promise<readonly StageId[]>;
}

/** The sealed releases installed on this machine. */
export interface ReleaseStorePort {
  /**
   * Copies the artifacts out of the stage, verified while copied, read-only and durable; the completion record is
   * written last (F27).
   */
  install(
    release: SealedRelease,
    provenance: string,
    stage: StageId,
    specs: readonly ArtifactSpec[],
  ): Promise<Outcome<'installed'>>;
  /** The completion record after every byte was compared with it (F13). */
  verify(release: Digest): Promise<Outcome<SealedRelease>>;
  /** The release that was sealed under this plan, if it is remembered. */
  sealedUnder(plan: Digest): Promise<Digest | null>;
  remember(plan: Digest, release: Digest): Promise<void>;
  list(): Promise<readonly Digest[]>;
  /** Deletes one release, complete or not. */
  remove(release: Digest): Promise<void>;
}
