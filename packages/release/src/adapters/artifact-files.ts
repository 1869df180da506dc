import { constants } from 'node:fs';
import { chmod, copyFile, lstat, mkdir, readlink, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { digestBytes } from '@idunn/kernel';
import type { ArtifactFile, SealedArtifact } from '../model/sealed-release.ts';
import { atOnce, FILES_AT_ONCE } from './at-once.ts';
import type { DigestMemo } from './digest-memo.ts';
import { absentAsNull, digestFile, readWhole } from './files.ts';
import { walk } from './walk.ts';

/**
 * Copies an artifact by its list of files and nothing else, each verified while it is copied. Answers the first path
 * that is not as sealed; `null` when every one was.
 */
export async function copyArtifact(from: string, to: string, artifact: SealedArtifact): Promise<string | null> {
  const directories = new Set(artifact.kind === 'directory' ? [to] : []);
  for (const { path } of artifact.files) {
    for (let above = dirname(join(to, path)); above.length > to.length; above = dirname(above)) directories.add(above);
  }
  for (const path of [...directories].toSorted()) await mkdir(path, { recursive: true, mode: 0o700 });
  let altered: string | null = null;
  await atOnce(FILES_AT_ONCE, artifact.files, async (file) => {
    const whole = await copyOne(join(from, file.path), join(to, file.path), file).catch(absentAsNull);
    if (whole !== true) altered ??= file.path === '' ? artifact.id : `${artifact.id}/${file.path}`;
  });
  return altered;
}

/** Copies one file and digests what was copied: what was sealed is what is installed (I2). */
export async function copyOne(from: string, to: string, file: ArtifactFile): Promise<boolean> {
  if (file.link !== undefined) {
    await symlink(file.link, to);
    return true;
  }
  const mode = file.executable ? 0o555 : 0o444;
  const bytes = await readWhole(from);
  if (bytes === null) {
    await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    await chmod(to, mode);
    return (await digestFile(to)) === file.digest;
  }
  if (digestBytes(bytes) !== file.digest) return false;
  await writeFile(to, bytes, { flag: 'wx', mode: 0o600 });
  await chmod(to, mode);
  return true;
}

/**
 * The first difference between an installed artifact and its record, in words; `null` when every byte is as sealed
 * (F13).
 */
export async function artifactDifference(
  path: string,
  artifact: SealedArtifact,
  digests: DigestMemo,
): Promise<string | null> {
  const stat = await lstat(path).catch(absentAsNull);
  if (stat === null) return `${artifact.id} is missing`;
  const found = stat.isDirectory() ? (await walk(path)).filter(({ kind }) => kind !== 'directory') : [{ path: '' }];
  const unknown = new Set(found.map((entry) => entry.path));
  for (const file of artifact.files) {
    const name = file.path === '' ? artifact.id : `${artifact.id}/${file.path}`;
    if (!unknown.delete(file.path)) return `${name} is missing`;
    if (await differs(join(path, file.path), file, digests)) return `${name} differs`;
  }
  const [extra] = unknown;
  return extra === undefined ? null : `${artifact.id}/${extra} does not belong to it`;
}

async function differs(path: string, file: ArtifactFile, digests: DigestMemo): Promise<boolean> {
  const stat = await lstat(path);
  if (file.link !== undefined) return !stat.isSymbolicLink() || (await readlink(path)) !== file.link;
  if (!stat.isFile() || stat.size !== file.bytes || ((stat.mode & 0o100) !== 0) !== file.executable) return true;
  return (await digests.digest(path)) !== file.digest;
}
