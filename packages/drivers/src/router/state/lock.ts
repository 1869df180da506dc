import { DatabaseSync } from 'node:sqlite';
import { type Outcome, ok, refusal, refused } from '@idunn/kernel';

/**
 * One router per state file. The lock is SQLite's exclusive lock on a file of its own, opened once: the kernel lifts it
 * with the process, however that ends, so no stale lock can be left behind and two starters cannot both win.
 */
export function takeLock(stateFile: string): Outcome<DatabaseSync> {
  const path = `${stateFile}.lock`;
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { timeout: 0 });
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    return ok(database);
  } catch (error) {
    database?.close();
    const text = String(error);
    if (text.includes('locked')) return refused(refusal('router-already-running', `Another router holds ${path}.`));
    return refused(refusal('router-state-not-written', `The lock ${path} cannot be taken: ${text}.`));
  }
}
