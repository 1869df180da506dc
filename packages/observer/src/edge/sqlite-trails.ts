import { closeSync, openSync, readdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Trails } from '../book/trails.ts';

const PREFIX = 'trails-';

/**
 * Trails in a database of this boot. No sync of the disk: a killed process loses nothing that the kernel was given,
 * and a machine that lost its power begins another boot with other activations, and another file. Files of earlier
 * boots go.
 */
export function openTrails(directory: string, bootId: string): Trails {
  const name = `${PREFIX}${bootId}.sqlite`;
  for (const file of readdirSync(directory)) {
    if (file.startsWith(PREFIX) && !file.startsWith(name)) unlinkSync(join(directory, file));
  }
  const path = join(directory, name);
  closeSync(openSync(path, 'a', 0o600));
  const database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF');
  database.exec(
    `CREATE TABLE IF NOT EXISTS trail (activation TEXT PRIMARY KEY, sequence INTEGER NOT NULL, epoch INTEGER NOT NULL)
     STRICT, WITHOUT ROWID`,
  );
  const read = database.prepare('SELECT sequence, epoch FROM trail WHERE activation = ?');
  const write = database.prepare('INSERT OR REPLACE INTO trail (activation, sequence, epoch) VALUES (?, ?, ?)');
  const forget = database.prepare('DELETE FROM trail WHERE activation = ?');
  return {
    read(activation) {
      const row = read.get(activation);
      return row === undefined ? null : { sequence: Number(row['sequence']), epoch: Number(row['epoch']) };
    },
    write(activation, { sequence, epoch }) {
      write.run(activation, sequence, epoch);
    },
    forget(activation) {
      forget.run(activation);
    },
    close() {
      database.close();
    },
  };
}
