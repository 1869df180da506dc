import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Fleet } from './fleet.ts';

export const IS_ROOT = process.getuid?.() === 0;
/** The suite that runs as root with a user for each workload says so; `npm run verify -- end-to-end-own-users`. */
export const OWN_USERS = process.env['IDUNN_E2E_USERS'] === 'own';

/** Accounts that every Debian has, with a group that is its own; nobody runs anything as them. */
export const GHOSTLIGHT_USERS = { user: 'games', alternate: 'news', group: 'games', uids: [5, 9], gid: 60 } as const;
const OTHERS = ['irc', 'list', 'proxy', 'uucp', 'lp'] as const;

/** Gives ghostlight two users that take turns. */
export async function separate(fleet: Pick<Fleet, 'bind'>): Promise<void> {
  const { user, alternate, group } = GHOSTLIGHT_USERS;
  await fleet.bind((text) =>
    text.replace('[workload]\n', `[workload]\nuser = "${user}"\nalternate_user = "${alternate}"\ngroup = "${group}"\n`),
  );
}

/** Lines of `[workload]` for one more target of a fleet. */
export async function oneMoreUser({ directory }: Fleet): Promise<string> {
  if (!OWN_USERS) return '';
  const bound = (await readdir(join(directory, 'bindings'))).length - 1;
  const user = OTHERS[bound];
  if (user === undefined) throw new Error('there are not so many users');
  return `user = "${user}"\n`;
}
