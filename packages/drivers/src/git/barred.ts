import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Outcome, refusal, refused } from '@idunn/kernel';
import { lacks, MAY } from '../process/user/modes.ts';
import type { Account } from './reader.ts';

/** What git reads in a repository to give its objects out. */
export const READ_PARTS = ['HEAD', 'config', 'packed-refs', 'refs', 'objects'];
/** More entries are not looked at when the one is sought that could not be read. */
const LOOK_LIMIT = 100_000;

const OR_ANOTHER = 'or name in source.reader of fleet.toml who may read it.';

export const foreign = (origin: string, stderr = ''): Outcome<never> =>
  refused(
    refusal('source-origin-foreign', `${origin} belongs to another user than those whose repositories are read.`, {
      detail: { stderr },
    }),
  );

/** `openable`: a sandbox would open the way, if one could be made. */
export function closedTo(
  { name }: Account,
  directory: string,
  origin: string,
  openable: boolean,
  stderr = '',
): Outcome<never> {
  const reason = `${name} cannot enter ${directory} on the way into ${origin}.`;
  const instead = openable ? 'Install bubblewrap where it may mount, or run' : 'Run';
  const remedy = `${instead} setfacl -m u:${name}:x ${directory}, ${OR_ANOTHER}`;
  return refused(refusal('source-closed', reason, { remedy, detail: { stderr } }));
}

/** What the account may not read in a repository, by its modes, as a refusal; `null` when there is nothing. */
export async function unreadableIn(
  repository: string,
  origin: string,
  account: Account,
  stderr = '',
): Promise<Outcome<never> | null> {
  const path = await firstUnreadable(repository, account);
  return path === null ? null : unreadable(account, path, { repository, origin }, stderr);
}

export function unreadable(
  { name }: Account,
  path: string,
  { repository, origin }: { readonly repository: string; readonly origin: string },
  stderr = '',
): Outcome<never> {
  const remedy = `Run setfacl -R -m u:${name}:rX ${repository}, ${OR_ANOTHER}`;
  return refused(refusal('source-closed', `${name} cannot read ${path} in ${origin}.`, { remedy, detail: { stderr } }));
}

async function firstUnreadable(repository: string, { uid, gid }: Account): Promise<string | null> {
  const paths = [repository, ...READ_PARTS.map((part) => join(repository, part))];
  for (const path of paths) {
    const status = await lstat(path).catch(() => null);
    if (status === null || status.isSymbolicLink()) continue;
    const needed = status.isDirectory() ? MAY.read | MAY.pass : MAY.read;
    if (lacks(status, { uid, gid, stateGid: null }, needed)) return path;
    if (path === repository || !status.isDirectory() || paths.length > LOOK_LIMIT) continue;
    for (const name of await readdir(path).catch(() => [])) paths.push(join(path, name));
  }
  return null;
}
