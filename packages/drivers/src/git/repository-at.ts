import { lstat, readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

/** Where git looks for the data of an origin, in its order. */
const PLACES = ['/.git', '', '.git/.git', '.git'] as const;
/** What a directory holds that git takes for a repository. */
const PARTS = ['HEAD', 'objects', 'refs'] as const;
/** A file of git's that names another place holds one path; a longer one is not followed. */
const POINTER_LIMIT_BYTES = 8_192;

export interface FoundRepository {
  /** The directory with its data. */
  readonly repository: string;
  /** Every directory that git enters: a linked worktree, or a submodule, has its data elsewhere. */
  readonly entered: readonly string[];
  /** All that decides what is read belongs to these owners. */
  readonly trusted: boolean;
}

/** What git would read for a local origin; `null` where it would find nothing that can be looked at. */
export async function repositoryAt(origin: string, owners: ReadonlySet<number>): Promise<FoundRepository | null> {
  for (const place of PLACES) {
    const path = `${resolve(origin)}${place}`;
    const kind = await kindOf(path);
    if (kind === null) continue;
    const trusted = (await belong(path, owners)) && (!path.endsWith('/.git') || (await belong(dirname(path), owners)));
    if (kind === 'repository') return { repository: path, entered: [path], trusted };
    // What a stranger wrote is not followed.
    if (!trusted) return { repository: path, entered: [dirname(path)], trusted };
    return linkedBy(path, owners).catch(() => null);
  }
  return null;
}

async function kindOf(path: string): Promise<'repository' | 'pointer' | null> {
  const about = await stat(path).catch(() => null);
  if (about?.isFile() === true) return 'pointer';
  const parts = await Promise.all(PARTS.map((part) => lstat(join(path, part)).catch(() => null)));
  return about?.isDirectory() === true && parts.every((part) => part !== null) ? 'repository' : null;
}

/** By a `.git` that is a file: `gitdir:` and a path, from where `commondir` may lead on to what worktrees share. */
async function linkedBy(pointer: string, owners: ReadonlySet<number>): Promise<FoundRepository | null> {
  const [, directory] = /^gitdir: (.+)$/.exec((await pathIn(pointer)) ?? '') ?? [];
  if (directory === undefined) return null;
  const own = resolve(dirname(pointer), directory);
  if (!(await belong(own, owners))) return { repository: own, entered: [dirname(pointer), own], trusted: false };
  const shared = resolve(own, (await pathIn(join(own, 'commondir'))) ?? '.');
  const trusted = await belong(shared, owners);
  return { repository: shared, entered: [dirname(pointer), own, shared], trusted };
}

async function pathIn(file: string): Promise<string | null> {
  const about = await stat(file).catch(() => null);
  if (about?.isFile() !== true || about.size > POINTER_LIMIT_BYTES) return null;
  return (await readFile(file, 'utf8')).replace(/[\r\n]+$/, '');
}

/** A link counts with what it leads to. */
async function belong(path: string, owners: ReadonlySet<number>): Promise<boolean> {
  return (await Promise.all([lstat(path), stat(path)])).every(({ uid }) => owners.has(uid));
}
