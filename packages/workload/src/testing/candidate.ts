import { realMachine } from '../edge/machine.ts';
import { LeaseHolder } from '../lease/holder.ts';
import { nodeSqlite } from '../sqlite/node-sqlite.ts';
import { StoreShelf } from '../sqlite/shelf.ts';
import { ACTIVATION, STATE_ID } from './authority.ts';
import { betterDriver } from './better.ts';

/**
 * A program that may only read its store until its grant: each line on standard input is an epoch that it is granted.
 * It says what it could do. Arguments: path, library.
 */
const [path = '', library = ''] = process.argv.slice(2);
const shelf = new StoreShelf([{ id: 'world', kind: 'sqlite', path }], () => realMachine.processId(), console.error);
const holder = new LeaseHolder({ activation: ACTIVATION, stateId: STATE_ID }, shelf.open, realMachine, {
  granted: () => {},
  changed: () => {},
  firstWrite: () => {},
  log: (line) => console.error(line),
});
const driver = library === 'better-sqlite3' ? betterDriver : nodeSqlite;
// Two connections: within a process they share what they know of a file.
const stores = [shelf.take('world', holder, driver), shelf.take('world', holder, driver)];

const attempt = (act: () => unknown): string => {
  try {
    return String(act());
  } catch (error) {
    return error instanceof Error ? error.name : String(error);
  }
};
const count = (index: number): string =>
  attempt(
    () => stores[index]?.read((database) => database.prepare('SELECT count(*) AS found FROM world').get())?.['found'],
  );
const write = (index: number, text: string): string =>
  attempt(() =>
    stores[index]?.write((database) => {
      database.prepare('INSERT INTO world (text) VALUES (?)').run(text);
      return 'wrote';
    }),
  );

console.log([count(0), count(1), write(0, 'early')].join(' '));
process.stdin.on('data', (chunk) => {
  const epoch = Number(chunk.toString());
  holder.grant({ stateId: STATE_ID, epoch });
  console.log([write(0, `a ${epoch}`), write(1, `b ${epoch}`), count(1)].join(' '));
});
