import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { absent, type Evidence, seen, unknown } from '@idunn/kernel';

/** A directory of accounts that does not answer by then is unknown, not absent (I10). */
const PATIENCE_MS = 5_000;
/** `getent` ends so when it knows nothing of that name. */
const NOT_FOUND = 2;

/** The user of exactly this name, from wherever this machine keeps its accounts. A number names nobody. */
export const accountOf = (login: string): Promise<Evidence<{ readonly uid: number; readonly gid: number }>> =>
  entryOf('passwd', login, ([, , uid = '', gid = '']) =>
    isNumber(uid) && isNumber(gid) ? { uid: Number(uid), gid: Number(gid) } : null,
  );

/** The group of exactly this name. */
export const groupOf = (name: string): Promise<Evidence<{ readonly gid: number }>> =>
  entryOf('group', name, ([, , gid = '']) => (isNumber(gid) ? { gid: Number(gid) } : null));

/** The uid of a login. */
export async function uidOf(login: string): Promise<Evidence<number>> {
  const account = await accountOf(login);
  return account.kind === 'seen' ? seen(account.value.uid) : account;
}

const isNumber = (text: string): boolean => /^\d+$/.test(text);

async function entryOf<T>(
  database: 'passwd' | 'group',
  name: string,
  read: (fields: readonly string[]) => T | null,
): Promise<Evidence<T>> {
  if (!/^[a-z_][a-z0-9_.-]{0,255}\$?$/i.test(name)) return unknown(`${name} is no name of a user or group`);
  try {
    const { stdout } = await promisify(execFile)('getent', [database, name], { timeout: PATIENCE_MS });
    const fields = stdout.split('\n', 1)[0]?.split(':') ?? [];
    const found = fields[0] === name ? read(fields) : null;
    return found === null ? unknown(`getent said: ${stdout.trim()}`) : seen(found);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException & { code?: unknown };
    return (code as unknown) === NOT_FOUND ? absent : unknown(message);
  }
}
