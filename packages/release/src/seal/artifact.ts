import { digestJson } from '@idunn/kernel';
import type { ArtifactFile, SealedArtifact } from '../model/sealed-release.ts';

/** An artifact from its files: sorted by path, so that the digest does not depend on how a disk lists them. */
export function sealedArtifact(
  id: string,
  kind: SealedArtifact['kind'],
  files: readonly ArtifactFile[],
): SealedArtifact {
  const sorted = files.toSorted((left, right) => (left.path < right.path ? -1 : Number(left.path > right.path)));
  return { id, kind, digest: digestJson({ kind, files: sorted }), files: sorted };
}
