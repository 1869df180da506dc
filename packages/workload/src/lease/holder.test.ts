import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { NotWriter } from '../errors.ts';
import type { Rule } from '../sqlite/rules.ts';
import { StoreShelf } from '../sqlite/shelf.ts';
import { ACTIVATION, LeaseHand, makeStore, OTHER, STATE_ID, scratch } from '../testing/authority.ts';
import { FakeMachine } from '../testing/machine.ts';
import { LeaseHolder } from './holder.ts';

function world(t: TestContext, ...without: readonly Rule[]) {
  const directory = scratch(t);
  const [path, ledgerPath] = [join(directory, 'world.db'), join(directory, 'ledger.db')];
  makeStore(path);
  makeStore(ledgerPath);
  const machine = new FakeMachine();
  const said: string[] = [];
  const shelf = new StoreShelf(
    [
      { id: 'world', kind: 'sqlite', path },
      { id: 'ledger', kind: 'sqlite', path: ledgerPath },
    ],
    () => 1,
    () => {},
  );
  const holder = new LeaseHolder(
    { activation: ACTIVATION, stateId: STATE_ID },
    shelf.open,
    machine,
    {
      granted: ({ epoch }) => said.push(`granted ${epoch}`),
      changed: () => said.push(`writes under ${holder.epoch}`),
      firstWrite: (epoch, atMs) => said.push(`first write ${epoch} at ${atMs}`),
      log: () => said.push('log'),
    },
    new Set(without),
  );
  const [store, ledger] = [shelf.take('world', holder), shelf.take('ledger', holder)];
  const [hand, ledgerHand] = [new LeaseHand(path), new LeaseHand(ledgerPath)];
  t.after(() => {
    hand.close();
    ledgerHand.close();
    shelf.close();
  });
  const writes = (): boolean => {
    try {
      store.write((database) => database.exec('INSERT INTO world (text) VALUES (hex(randomblob(8)))'));
      return true;
    } catch (error) {
      assert.ok(error instanceof NotWriter);
      return false;
    }
  };
  return { machine, said, holder, hand, ledgerHand, ledger, writes };
}

const grant = (epoch: number) => ({ stateId: STATE_ID, epoch });

test('without a grant nothing is written; the first write under an epoch is announced once', (t) => {
  const { said, holder, writes } = world(t);
  assert.equal(writes(), false);
  assert.equal(holder.grant(grant(1)), 'taken');
  assert.deepEqual([writes(), writes()], [true, true]);
  assert.deepEqual(said, ['granted 1', 'first write 1 at 1000']);
  assert.equal(holder.lastWriteAtMs, 1_000);
});

test('I1: a grant that one of the stores does not name is not taken', (t) => {
  const { holder, hand, ledgerHand, writes } = world(t);
  hand.swap(2, ACTIVATION);
  holder.grant(grant(2));
  assert.equal(holder.epoch, null);
  assert.equal(writes(), false);
  hand.swap(3, ACTIVATION);
  ledgerHand.swap(3, ACTIVATION);
  holder.grant(grant(3));
  assert.equal(writes(), true);
});

test('I5: a grant for another state, or of an epoch that is past, is worth nothing', (t) => {
  const { holder, hand, ledgerHand, said } = world(t);
  assert.equal(holder.grant({ stateId: 'another', epoch: 1 }), 'stale');
  hand.swap(2, ACTIVATION);
  ledgerHand.swap(2, ACTIVATION);
  holder.grant(grant(2));
  assert.equal(holder.grant(grant(1)), 'stale');
  assert.equal(holder.epoch, 2);
  assert.deepEqual(said, ['granted 2', 'log']);
});

test('I1: refused by the row once, it never writes again, even when the row names it anew', (t) => {
  const comeback = (...without: readonly Rule[]) => {
    const { holder, hand, writes } = world(t, ...without);
    holder.grant(grant(1));
    assert.equal(writes(), true);
    hand.swap(1, OTHER);
    assert.equal(writes(), false);
    hand.swap(1, ACTIVATION); // As a restore of an older copy would do.
    return writes();
  };
  assert.equal(comeback(), false);
  assert.equal(comeback('row-refusal-is-final'), true);
  const { holder, hand, ledgerHand, writes } = world(t);
  holder.grant(grant(1));
  hand.swap(2, OTHER);
  assert.equal(writes(), false);
  hand.swap(3, ACTIVATION);
  ledgerHand.swap(3, ACTIVATION);
  assert.equal(writes(), false);
  holder.grant(grant(3));
  assert.equal(writes(), true, 'a higher epoch lets it write again');
});

test('after relinquish writes are refused before effect; when the term ends it goes on, still named', (t) => {
  const { machine, holder, writes } = world(t);
  holder.grant(grant(1));
  holder.relinquish({ requestId: 'r-1', epoch: 1, termMs: 500 });
  machine.pass(499);
  assert.equal(writes(), false);
  machine.pass(1);
  assert.equal(writes(), true);
});

test('I1: when the term ends and the row names another, it stays aside for ever', (t) => {
  const afterTerm = (...without: readonly Rule[]) => {
    const { machine, holder, hand } = world(t, ...without);
    holder.grant(grant(1));
    holder.relinquish({ requestId: 'r-1', epoch: 1, termMs: 500 });
    hand.swap(2, OTHER);
    machine.pass(60_000);
    return holder.epoch;
  };
  assert.equal(afterTerm(), null);
  assert.equal(afterTerm('resume-re-reads-the-row'), 1, 'without the rule it believes to be the writer');
});

test('a relinquish without a term ends only by its own withdrawal', (t) => {
  const { machine, holder, writes } = world(t);
  holder.grant(grant(1));
  holder.relinquish({ requestId: 'r-1', epoch: 1, termMs: null });
  machine.pass(1e9);
  assert.equal(writes(), false);
  assert.equal(holder.withdraw('r-0'), false);
  assert.equal(holder.withdraw('r-1'), true);
  assert.equal(writes(), true);
});

test('I1: a withdrawal re-reads every store, not one', (t) => {
  const { holder, ledgerHand, writes } = world(t);
  holder.grant(grant(1));
  holder.relinquish({ requestId: 'r-1', epoch: 1, termMs: null });
  ledgerHand.swap(2, OTHER);
  assert.equal(holder.withdraw('r-1'), false);
  assert.equal(writes(), false);
});

test('a repeated relinquish takes the newest term; an older grant again means: look at the row', (t) => {
  const { machine, holder, writes } = world(t);
  holder.grant(grant(1));
  holder.relinquish({ requestId: 'r-1', epoch: 1, termMs: 100 });
  holder.relinquish({ requestId: 'r-2', epoch: 1, termMs: 1_000 });
  machine.pass(999);
  assert.equal(writes(), false);
  assert.equal(holder.grant(grant(1)), 'taken');
  assert.equal(writes(), true);
  machine.pass(10_000);
  assert.equal(writes(), true);
});

test('I10: a row that cannot be read is neither a yes nor a no: it stays aside and asks again', (t) => {
  const { machine, holder, hand, said } = world(t);
  holder.grant(grant(1));
  holder.relinquish({ requestId: 'r-1', epoch: 1, termMs: 500 });
  hand.database.exec('ALTER TABLE idunn_lease RENAME TO hidden');
  machine.pass(500);
  assert.equal(holder.epoch, null);
  assert.ok(said.includes('log'));
  hand.database.exec('ALTER TABLE hidden RENAME TO idunn_lease');
  machine.pass(100);
  assert.equal(holder.epoch, 1);
});

test('I10: a grant whose row cannot be read yet is taken as soon as it can', (t) => {
  const { machine, holder, hand, writes } = world(t);
  hand.database.exec('ALTER TABLE idunn_lease RENAME TO hidden');
  assert.equal(holder.grant(grant(1)), 'taken');
  assert.equal(writes(), false);
  hand.database.exec('ALTER TABLE hidden RENAME TO idunn_lease');
  machine.pass(100);
  assert.equal(writes(), true);
});
