import { posix } from 'node:path';
import { z } from 'zod';
import type { SealedArtifact } from '../model/sealed-release.ts';
import { sealedArtifact } from '../seal/artifact.ts';
import { sealedArtifactSchema } from '../seal/record.ts';
import { staysInside } from '../source/links.ts';

/**
 * A list of artifacts with their files, as it came from somebody else: `null` unless each carries its own digest and
 * what it lists can be put into a directory of its own, each name once, and nothing leads out of it (I11).
 */
export function artifactsOf(list: unknown): readonly SealedArtifact[] | null {
  const read = z.array(sealedArtifactSchema).safeParse(list);
  if (!read.success) return null;
  const ids = new Set(read.data.map(({ id }) => id));
  return ids.size === read.data.length && read.data.every(canBePut) ? read.data : null;
}

function canBePut({ id, kind, digest, files }: SealedArtifact): boolean {
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(id) || sealedArtifact(id, kind, files).digest !== digest) return false;
  if (kind === 'file') return files.length === 1 && files[0]?.path === '' && files[0].link === undefined;
  const paths = new Set(files.map(({ path }) => path));
  if (paths.size !== files.length || !files.every(({ path }) => isPlain(path))) return false;
  if (files.some(({ path }) => above(path).some((directory) => paths.has(directory)))) return false;
  const links = new Map(files.flatMap(({ path, link }) => (link === undefined ? [] : [[path, link] as const])));
  return [...links].every(([path, link]) => link !== '' && !link.includes('\0') && staysInside(links, path));
}

const isPlain = (path: string): boolean =>
  !path.includes('\0') && path.split('/').every((name) => name !== '' && name !== '.' && name !== '..');

/** The directories that a path lies in: none of them may be a file or a link of the list. */
function above(path: string): readonly string[] {
  const directory = posix.dirname(path);
  return directory === '.' ? [] : [directory, ...above(directory)];
}
