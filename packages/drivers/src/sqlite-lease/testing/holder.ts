import { DatabaseSync } from 'node:sqlite';

/** Begins a write to the lease row, says so, and holds the database until it is killed. */
const [path] = process.argv.slice(2) as [string];
const database = new DatabaseSync(path, { timeout: 10_000 });
database.exec("BEGIN IMMEDIATE; UPDATE idunn_lease SET epoch = epoch + 1, activation = 'act-thief'");
process.stdout.write('holding\n');
setInterval(() => {}, 1e6);
