import { setImmediate as turn } from 'node:timers/promises';
import { realMachine } from '../edge/machine.ts';
import { NotWriter } from '../errors.ts';
import { LeaseHolder } from '../lease/holder.ts';
import { nodeSqlite } from '../sqlite/node-sqlite.ts';
import { StoreShelf } from '../sqlite/shelf.ts';
import { STATE_ID } from './authority.ts';
import { betterDriver } from './better.ts';

/**
 * A program that writes as fast as it can, never relinquishes, and takes every grant that the row shows it: the least
 * cooperative one. Arguments: path, activation, library.
 */
const [path = '', activation = '', library = ''] = process.argv.slice(2);
const shelf = new StoreShelf([{ id: 'world', kind: 'sqlite', path }], () => realMachine.processId(), console.error);
const holder = new LeaseHolder({ activation, stateId: STATE_ID }, shelf.open, realMachine, {
  granted: () => {},
  changed: () => {},
  firstWrite: () => {},
  log: () => {},
});
const store = shelf.take('world', holder, library === 'better-sqlite3' ? betterDriver : nodeSqlite);

process.stdout.write('ready\n');
for (let count = 0; ; count++) {
  try {
    store.write((database) => {
      database.prepare('INSERT INTO world (text) VALUES (?)').run(`write ${activation} ${process.pid} ${count}`);
    });
  } catch (error) {
    if (!(error instanceof NotWriter)) throw error;
    const row = shelf.open[0]?.connection.row();
    if (row?.activation === activation) holder.grant({ stateId: STATE_ID, epoch: row.epoch });
  }
  if (count % 16 === 0) await turn();
}
