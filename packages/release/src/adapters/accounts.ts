import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { absent, type Evidence, seen, unknown } from '@idunn/kernel';

/** A directory of accounts that does not answer by then is unknown, not absent (I10). */
const PATIENCE_MS = 5_000;
/** `getent` ends so when it knows no such account. */
const NO_SUCH_ACCOUNT = 2;

/** The uid of a login, from wherever this machine keeps its accounts. */
export async function uidOf(login: string): Promise<Evidence<number>> {
  if (!/^[a-z_][a-z0-9_.-]{0,255}\$?$/i.test(login)) return unknown(`${login} is no login`);
  try {
    const { stdout } = await promisify(execFile)('getent', ['passwd', login], { timeout: PATIENCE_MS });
    const [name, , uid] = stdout.split(':');
    return name === login && /^\d+$/.test(uid ?? '') ? seen(Number(uid)) : unknown(`getent said: ${stdout.trim()}`);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException & { code?: unknown };
    return (code as unknown) === NO_SUCH_ACCOUNT ? absent : unknown(message);
  }
}
