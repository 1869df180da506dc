import type { Digest, Envelope } from '@idunn/kernel';

/** What git plumbing proved about the selected source. Object ids are git's own, in the repository's object format. */
export interface SourceFacts {
  /** The canonical origin, as the binding writes it. */
  readonly origin: string;
  /** The admitted ref, fully qualified, e.g. `refs/heads/main`. */
  readonly ref: string;
  readonly selection: 'pinned-object' | 'ref-head' | 'signed-authorization';
  readonly objectFormat: ObjectFormat;
  readonly commit: string;
  readonly tree: string;
  readonly recipePath: string;
  readonly recipeBlob: string;
  /** SHA-256 over the recipe's exact bytes. */
  readonly recipeDigest: Digest;
  /** Every submodule of the tree, those inside others included, a submodule before those inside it. */
  readonly gitlinks: readonly Gitlink[];
  /** `keep`: the binding admits that large files are staged as their pointers. */
  readonly lfsPointers: 'refuse' | 'keep';
  /** What the commit was selected by; `null` unless `selection` is `signed-authorization`. */
  readonly authorization: FrozenAuthorization | null;
  /** The binding's minimum revision, proven to be the commit itself or an ancestor of it. */
  readonly minimumRevision: string;
}

export type ObjectFormat = 'sha1' | 'sha256';

/** A submodule, at exactly the commit that the tree records, from the origin that the binding admits for its path. */
export interface Gitlink {
  /** Relative to the whole tree, whatever submodules lie between. */
  readonly path: string;
  readonly origin: string;
  /** The ref of that origin that was proven to contain the commit. */
  readonly ref: string;
  readonly objectFormat: ObjectFormat;
  readonly commit: string;
  readonly tree: string;
}

/** A release authorization as a plan keeps it: whole, so that it can be verified for as long as the plan is kept. */
export interface FrozenAuthorization {
  /** Over the exact signed bytes. */
  readonly digest: Digest;
  readonly keyId: string;
  /** The authorizer's raw Ed25519 public key in base64, as the binding named it then. */
  readonly publicKey: string;
  readonly sequence: number;
  /** The one build that sealing may come to; `null`: whichever comes out. */
  readonly build: Digest | null;
  /** ISO 8601, UTC. */
  readonly notAfter: string;
  readonly envelope: Envelope;
}
