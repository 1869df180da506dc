import type { Digest } from '@idunn/kernel';

/** One file of an artifact, as installed. */
export interface ArtifactFile {
  /** Relative to the artifact; empty for an artifact that is one file. */
  readonly path: string;
  readonly digest: Digest;
  readonly bytes: number;
  readonly executable: boolean;
  /**
   * A symbolic link's target, within the artifact; digest and bytes are then the target text's. Absent for a regular
   * file.
   */
  readonly link?: string;
}

export interface SealedArtifact {
  readonly id: string;
  readonly kind: 'file' | 'directory';
  /** Over the canonical list of files. */
  readonly digest: Digest;
  readonly files: readonly ArtifactFile[];
}

/** Build + binding + launch contract, content-addressed; the completion record of an installed release (F27). */
export interface SealedRelease {
  readonly schema: 'idunn.sealed-release/v1';
  readonly target: string;
  /** Digest of this record without `release`; names the release directory. */
  readonly release: Digest;
  /** Source, recipe, inputs, steps and artifacts; the same in every fleet. */
  readonly build: Digest;
  readonly plan: Digest;
  readonly bindingDigest: Digest;
  readonly launchDigest: Digest;
  readonly revision: string;
  /** What exec runs: the packaged file or the interpreter. */
  readonly executableDigest: Digest;
  /** The packaged entry of an interpreted program. */
  readonly entry: { readonly artifact: string; readonly path: string; readonly digest: Digest } | null;
  readonly artifacts: readonly SealedArtifact[];
  /** Digest of the signed in-toto statement kept beside the release. */
  readonly provenance: Digest;
  readonly sealedBy: string;
}
