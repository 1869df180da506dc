import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import { accountOf, readersOf } from '@idunn/release';

export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** How the fleet wants repositories to be read. */
export interface Reading {
  /** The daemon's own user. */
  readonly uid: number;
  /** The account that fleet.toml names, or `null` for the default ones. */
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
 * Only root can read as somebody else, and root itself never reads: where the fleet names nobody, the first of the
 * default readers that this machine has does. What is named and cannot be had is refused, never passed over.
 */
export async function readerFor({ uid, reader, originOwners }: Reading): Promise<Outcome<Reader>> {
  const owners = new Set([0, uid]);
  for (const name of originOwners) {
    const owner = await firstOf([name]);
    if (!owner.ok) return owner;
    owners.add(owner.value.uid);
  }
  if (uid !== 0 && reader === null) return ok({ account: null, owners });
  const found = await firstOf(readersOf(reader));
  if (!found.ok) return found;
  const account = found.value;
  owners.add(account.uid);
  if (account.uid === uid && uid !== 0) return ok({ account: null, owners });
  if (uid !== 0) return unusable(`only root reads as ${account.name}, and the daemon is the user ${uid}`);
  if (account.uid === 0) return unusable(`${account.name} is root itself`);
  if (account.gid === 0) return unusable(`the group of ${account.name} is that of root`);
  return ok({ account, owners });
}

async function firstOf(names: readonly string[]): Promise<Outcome<Account>> {
  for (const name of names) {
    const found = await accountOf(name);
    if (found.kind === 'seen') return ok({ name, ...found.value });
    if (found.kind === 'unknown') return unusable(`the user ${name} cannot be looked up: ${found.because}`);
  }
  return unusable(`this machine has no user ${names.join(' or ')}`);
}

const unusable = (why: string): Outcome<never> =>
  refused(refusal('reader-unusable', `Repositories cannot be read: ${why}.`));
