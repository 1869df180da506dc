import type { Digest, Outcome } from '@idunn/kernel';
import type { Plan } from '../model/plan.ts';
import type { SealedRelease } from '../model/sealed-release.ts';

/** Progress of long work, for people; never an input of a decision. */
export type ReleaseProgress = (note: { readonly step: string; readonly text: string }) => void;

/** A compiled plan, and how long its source was fetched over the network (left out of Idunn's own share). */
export interface Planned {
  readonly plan: Plan;
  readonly fetchMs: number;
}

/**
 * What the engine asks of the release room. Every call can be repeated: work that is already done and verified is
 * returned as it stands, work that is half done is thrown away and begun again (F27).
 */
export interface ReleasePort {
  /** Resolves the ref, proves the facts and compiles the plan. Touches nothing but the object cache. */
  plan(request: { readonly target: string; readonly ref?: string }, signal: AbortSignal): Promise<Outcome<Planned>>;
  /**
   * Copies the exact tree and the pinned inputs to the authority's stage and verifies them; answers the tree's
   * digest, and how long inputs were fetched over the network (left out of Idunn's own share).
   */
  materialize(
    plan: Plan,
    signal: AbortSignal,
    progress: ReleaseProgress,
  ): Promise<Outcome<{ readonly stage: Digest; readonly fetchMs: number }>>;
  /** Runs the steps, digests and installs the artifacts, signs provenance, and writes the completion record last. */
  seal(
    plan: Plan,
    signal: AbortSignal,
    progress: ReleaseProgress,
  ): Promise<Outcome<SealedRelease & { readonly stepsMs: number }>>;
  /** The installed release, verified against its completion record; refused when missing or altered (F13). */
  installed(release: Digest): Promise<Outcome<SealedRelease>>;
  /** Deletes stages and releases that no record names, keeping `keep` (F4). */
  collect(keep: readonly Digest[]): Promise<void>;
}
