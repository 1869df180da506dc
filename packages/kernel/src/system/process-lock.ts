import { DatabaseSync } from 'node:sqlite';

export type Held =
  | { readonly kind: 'held'; release(): void }
  | { readonly kind: 'elsewhere' }
  | { readonly kind: 'failed'; readonly because: string };

/**
 * Holds a file's lock for as long as this process lives. It is SQLite's exclusive lock on a file of its own, opened
 * once: the kernel lifts it with the process, however that ends, so no stale lock can be left behind and two starters
 * cannot both win.
 */
export function holdLock(path: string): Held {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { timeout: 0 });
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    const held = database;
    return { kind: 'held', release: () => held.close() };
  } catch (error) {
    database?.close();
    const because = String(error);
    return because.includes('locked') ? { kind: 'elsewhere' } : { kind: 'failed', because };
  }
}
