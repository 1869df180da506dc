import { lstat, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import { accountOf } from '@idunn/release';

/** The account that reads repositories where nobody names another. */
export const DEFAULT_READER = 'idunn-reader';

export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** How the fleet wants repositories to be read. */
export interface Reading {
  /** The daemon's own user. */
  readonly uid: number;
  /** The account that fleet.toml names, or `null`. */
  readonly reader: string | null;
  /** Accounts whose local repositories are read beside those of root, the daemon's user and the reader. */
  readonly originOwners: readonly string[];
}

/** Who git runs as, and whose local repositories it reads. */
export interface Reader {
  /** `null`: the daemon's own user. */
  readonly account: Account | null;
  readonly owners: ReadonlySet<number>;
}

/**
 * Only root can read as somebody else. A root daemon reads as the account that is named, else as `idunn-reader` where
 * there is one, else as root; what is named and cannot be had is refused, never passed over.
 */
export async function readerFor({ uid, reader, originOwners }: Reading): Promise<Outcome<Reader>> {
  const owners = new Set([0, uid]);
  for (const name of originOwners) {
    const owner = await named(name);
    if (owner === null) return unusable(`this machine has no user ${name}, which source.origin_owners names`);
    owners.add(owner.uid);
  }
  const name = reader ?? (uid === 0 ? DEFAULT_READER : null);
  const account = name === null ? null : await named(name);
  if (account === null) {
    return reader === null ? ok({ account, owners }) : unusable(`this machine has no user ${reader}`);
  }
  owners.add(account.uid);
  if (account.uid === uid && uid !== 0) return ok({ account: null, owners });
  if (uid !== 0) return unusable(`only root reads as ${account.name}, and the daemon is the user ${uid}`);
  if (account.uid === 0) return unusable(`${account.name} is root itself`);
  return ok({ account, owners });
}

/** `null` when this machine has no such account. */
async function named(name: string): Promise<Account | null> {
  const found = await accountOf(name);
  if (found.kind === 'unknown') throw new Error(`the account ${name} cannot be looked up: ${found.because}`);
  return found.kind === 'seen' ? { name, ...found.value } : null;
}

const unusable = (why: string): Outcome<never> =>
  refused(refusal('reader-unusable', `Repositories cannot be read as fleet.toml asks: ${why}.`));

/**
 * Whether a local repository belongs, with its own data, to somebody whose repositories are read. Git itself asks only
 * whether it belongs to the user that reads.
 */
export async function isOwned(origin: string, owners: ReadonlySet<number>): Promise<boolean> {
  try {
    if (!owners.has((await stat(origin)).uid)) return false;
    const inside = await lstat(join(origin, '.git')).catch(() => null);
    return inside === null || (inside.isDirectory() && owners.has(inside.uid));
  } catch {
    // What cannot be looked at is git's to judge.
    return false;
  }
}
