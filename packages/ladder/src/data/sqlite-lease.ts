import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { reading } from './sqlite-database.ts';

/**
 * A copy carries the write lease of where it comes from. Before anybody can open it, the row becomes that of the slot
 * it goes to, under the next epoch and held by nobody (I1): whoever was granted before is refused, and the authority
 * of the slot grants anew. A slot that has no row gets none.
 */
export function keepLease(copy: string, file: string): void {
  const database = new DatabaseSync(copy);
  try {
    if (!hasLease(database)) return;
    const own = existsSync(file)
      ? reading(file, (target) => (hasLease(target) ? leaseOf(target) : undefined))
      : undefined;
    const schema = leaseOf(database)?.['state_schema'];
    database.exec('BEGIN IMMEDIATE; DELETE FROM idunn_lease; DELETE FROM idunn_nonce');
    if (own !== undefined) {
      const { state_id: state, epoch } = own;
      const row = database.prepare('INSERT INTO idunn_lease (id, state_id, epoch, state_schema) VALUES (1, ?, ?, ?)');
      row.run(String(state), Number(epoch) + 1, String(schema ?? own['state_schema']));
    }
    database.exec('COMMIT');
  } finally {
    database.close();
  }
}

const hasLease = (database: DatabaseSync): boolean =>
  database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'idunn_lease'").get() !== undefined;

const leaseOf = (database: DatabaseSync) =>
  database.prepare('SELECT state_id, epoch, state_schema FROM idunn_lease WHERE id = 1').get();
