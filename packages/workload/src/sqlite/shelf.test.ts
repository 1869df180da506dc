import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { IdunnError } from '../errors.ts';
import { ACTIVATION, LeaseHand, makeStore, STATE_ID, scratch } from '../testing/authority.ts';
import { betterDriver } from '../testing/better.ts';
import type { Permit } from './guarded-store.ts';
import type { Rule } from './rules.ts';
import { StoreShelf } from './shelf.ts';

const permit: Permit = {
  current: () => ({ stateId: STATE_ID, epoch: 1, activation: ACTIVATION }),
  refusedByRow: () => {},
  committed: () => {},
};

function shelf(t: TestContext, ...without: readonly Rule[]) {
  const directory = scratch(t);
  const path = join(directory, 'world.db');
  makeStore(path);
  const logged: string[] = [];
  const locations = [
    { id: 'world', kind: 'sqlite', path },
    { id: 'ledger', kind: 'sqlite', path: join(directory, 'ledger.db') },
    { id: 'uploads', kind: 'files', path: join(directory, 'uploads') },
  ] as const;
  const made = new StoreShelf(
    locations,
    () => 1,
    (line) => logged.push(line),
    new Set(without),
  );
  t.after(() => made.close());
  return { path, logged, shelf: made };
}

const codeOf = (act: () => unknown): string => {
  try {
    act();
    return '';
  } catch (error) {
    return error instanceof IdunnError ? error.code : String(error);
  }
};

test('the echo is the nonce that every open connection reads; a store that is not open has none', (t) => {
  const { path, shelf: stores } = shelf(t);
  const hand = new LeaseHand(path);
  t.after(() => hand.close());
  assert.deepEqual(stores.nonces(), { world: null, ledger: null });
  stores.take('world', permit);
  stores.take('world', permit);
  assert.deepEqual(stores.nonces(), { world: null, ledger: null });
  hand.nonce('n-1');
  assert.deepEqual(stores.nonces(), { world: 'n-1', ledger: null });
});

test('I1: connections that do not read the same nonce are no echo', (t) => {
  const echo = (...without: readonly Rule[]) => {
    const { path, shelf: stores } = shelf(t, 'same-file', ...without);
    stores.take('world', permit);
    makeStore(`${path}.new`);
    const [old, fresh] = [new LeaseHand(path), new LeaseHand(`${path}.new`)];
    old.nonce('n-1');
    fresh.nonce('n-2');
    for (const [from, to] of [
      ['', '.old'],
      ['.new', ''],
    ]) {
      for (const side of ['', '-wal', '-shm']) renameSync(`${path}${from}${side}`, `${path}${to}${side}`);
    }
    stores.take('world', permit);
    const nonce = stores.nonces()['world'];
    old.close();
    fresh.close();
    return nonce;
  };
  assert.equal(echo(), null);
  assert.equal(echo('every-connection-echoes'), 'n-1');
});

test('I1: a connection to a file that was replaced gives no echo, and the log says why', (t) => {
  const { path, logged, shelf: stores } = shelf(t);
  stores.take('world', permit);
  const hand = new LeaseHand(path);
  hand.nonce('n-1');
  assert.equal(stores.nonces()['world'], 'n-1');
  makeStore(`${path}.new`);
  renameSync(`${path}.new`, path);
  assert.equal(stores.nonces()['world'], null);
  assert.match(logged.join('\n'), /workload-store-replaced/);
  hand.close();
});

test('I1: two SQLite libraries on one store in one process are refused: they would drop each other’s locks', (t) => {
  const second = (...without: readonly Rule[]) => {
    const { shelf: stores } = shelf(t, ...without);
    stores.take('world', permit);
    return codeOf(() => stores.take('world', permit, betterDriver));
  };
  assert.equal(second(), 'workload-store-two-libraries');
  assert.equal(second('one-library'), '');
});

test('only stores of the contract are opened, each as its kind', (t) => {
  const { shelf: stores } = shelf(t);
  assert.equal(
    codeOf(() => stores.take('nothing', permit)),
    'workload-store-unknown',
  );
  assert.equal(
    codeOf(() => stores.take('uploads', permit)),
    'workload-store-unknown',
  );
  assert.equal(
    codeOf(() => stores.path('world')),
    'workload-store-unknown',
  );
  assert.match(stores.path('uploads'), /uploads$/);
});

test('connections have a limit', (t) => {
  const { shelf: stores } = shelf(t);
  for (let opened = 0; opened < 64; opened++) stores.take('world', permit);
  assert.equal(
    codeOf(() => stores.take('world', permit)),
    'workload-connection-limit',
  );
});
