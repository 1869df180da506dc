import type { Digest } from '@idunn/kernel';

/** What git plumbing proved about the selected source. Object ids are git's own, in the repository's object format. */
export interface SourceFacts {
  /** The canonical origin, as the binding writes it. */
  readonly origin: string;
  /** The admitted ref, fully qualified, e.g. `refs/heads/main`. */
  readonly ref: string;
  readonly selection: 'pinned-object' | 'ref-head' | 'signed-authorization';
  readonly objectFormat: 'sha1' | 'sha256';
  readonly commit: string;
  readonly tree: string;
  readonly recipePath: string;
  readonly recipeBlob: string;
  /** SHA-256 over the recipe's exact bytes. */
  readonly recipeDigest: Digest;
  readonly gitlinks: readonly { readonly path: string; readonly commit: string }[];
  /** The binding's minimum revision, proven to be the commit itself or an ancestor of it. */
  readonly minimumRevision: string;
}
