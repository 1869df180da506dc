import { DatabaseSync } from 'node:sqlite';

/**
 * Writes as an unmodified program does: no patience for a lock, every row moved on in one transaction, again and again.
 * Its first refused write ends it. `hold`: leaves one transaction open with its pages in the file.
 */
const [, , file = '', mode = 'wal', how = 'go'] = process.argv;
const database = new DatabaseSync(file, { timeout: 0 });
database.exec(`PRAGMA journal_mode = ${mode}; PRAGMA synchronous = OFF; PRAGMA cache_size = 2;
  CREATE TABLE IF NOT EXISTS pairs (id INTEGER PRIMARY KEY, v INTEGER NOT NULL, filling BLOB) STRICT;
  WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 60)
  INSERT OR IGNORE INTO pairs SELECT id, 0, zeroblob(2000) FROM n;`);
const move = database.prepare('UPDATE pairs SET v = v + 1');
process.stdout.write('ready\n');
for (let turn = 0; ; turn++) {
  database.exec('BEGIN IMMEDIATE');
  move.run();
  if (how === 'hold' && turn === 3) break;
  database.exec('COMMIT');
  await new Promise((resolve) => setImmediate(resolve));
}
process.stdout.write('holding\n');
process.stdin.resume();
