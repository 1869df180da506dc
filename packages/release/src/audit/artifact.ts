import { lstat, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { atOnce } from '../adapters/at-once.ts';
import { absentAsNull, digestFile } from '../adapters/files.ts';
import { walk } from '../adapters/walk.ts';
import type { ArtifactFile, SealedArtifact } from '../model/sealed-release.ts';
import { sealedArtifact } from '../seal/artifact.ts';
import { type AuditCheck, differs, good, unread } from './check.ts';

/** Files that are digested side by side: enough to keep one disk busy. */
const READ_AT_ONCE = 4;
/** Differences that are named; the rest are counted. */
const SHOWN = 5;

/** Digests every file of an installed artifact anew, and looks for what was not sealed. */
export async function auditArtifact(directory: string, artifact: SealedArtifact): Promise<AuditCheck> {
  const { id, kind, files, digest } = artifact;
  const check = `artifact ${id}`;
  if (sealedArtifact(id, kind, files).digest !== digest) {
    return differs(check, `its list of files does not come to ${digest}`);
  }
  const root = join(directory, id);
  try {
    const found =
      kind === 'directory' ? (await walk(root)).filter((entry) => entry.kind !== 'directory') : [{ path: '' }];
    const wrong = new Set(found.map(({ path }) => path).filter((path) => !files.some((file) => file.path === path)));
    await atOnce(READ_AT_ONCE, files, async (file) => {
      if (!(await isAsSealed(join(root, file.path), file))) wrong.add(file.path);
    });
    if (wrong.size === 0) {
      const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
      return good(
        check,
        `${files.length === 1 ? '1 file' : `${files.length} files`}, ${bytes} bytes, digested anew: ${digest}`,
      );
    }
    const named = [...wrong]
      .toSorted()
      .slice(0, SHOWN)
      .map((path) => (path === '' ? id : `${id}/${path}`));
    const more = wrong.size > SHOWN ? ` and ${wrong.size - SHOWN} more` : '';
    return differs(check, `not as sealed: ${named.join(', ')}${more}`);
  } catch (error) {
    return unread(check, error, `${root} is not there`);
  }
}

async function isAsSealed(path: string, file: ArtifactFile): Promise<boolean> {
  const stat = await lstat(path).catch(absentAsNull);
  if (stat === null) return false;
  if (file.link !== undefined) return stat.isSymbolicLink() && (await readlink(path)) === file.link;
  if (!stat.isFile() || stat.size !== file.bytes || ((stat.mode & 0o100) !== 0) !== file.executable) return false;
  return (await digestFile(path)) === file.digest;
}
