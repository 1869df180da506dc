import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';

/**
 * A program that keeps the rule of docs/workload-protocol.md on several connections of its own, as fast as it can. It
 * reads grants (epochs) from stdin, one a line, and says `ready` and `writing EPOCH` (its first write under each).
 */
const [activation, connectionCount, ...paths] = process.argv.slice(2) as [string, string, ...string[]];

const connections = Array.from({ length: Number(connectionCount) }, () =>
  paths.map((path) => {
    const database = new DatabaseSync(path, { timeout: 10_000 });
    database.exec(
      'PRAGMA synchronous = NORMAL; CREATE TABLE IF NOT EXISTS journal (seq INTEGER PRIMARY KEY, epoch, activation)',
    );
    return {
      database,
      row: database.prepare('SELECT epoch, activation FROM idunn_lease'),
      insert: database.prepare('INSERT INTO journal (epoch, activation) VALUES (?, ?)'),
    };
  }),
);

let granted = 0;
let announced = 0;
/** After a refusal by the row, nothing is written until a higher epoch is granted. */
let refusedAt = -1;
createInterface({ input: process.stdin }).on('line', (line) => {
  granted = Number(line);
});

const ROUNDS_A_TURN = 20;

function turn(): void {
  for (let round = 0; round < ROUNDS_A_TURN && granted > refusedAt; round++) {
    for (const stores of connections) writeGuarded(stores);
  }
  setImmediate(turn);
}

/** One transaction for each store, each comparing in the database that it writes. */
function writeGuarded(stores: (typeof connections)[number]): void {
  for (const { database, row, insert } of stores) {
    database.exec('BEGIN IMMEDIATE');
    const { epoch, activation: holder } = row.get() as { epoch: number; activation: string | null };
    if (epoch !== granted || holder !== activation) {
      database.exec('ROLLBACK');
      if (epoch > granted) refusedAt = granted;
      return;
    }
    insert.run(epoch, activation);
    database.exec('COMMIT');
    if (announced === epoch) continue;
    announced = epoch;
    process.stdout.write(`writing ${epoch}\n`);
  }
}

process.stdout.write('ready\n');
turn();
