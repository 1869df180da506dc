import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { IdunnError, NotWriter } from '../errors.ts';
import { ACTIVATION, LeaseHand, makeStore, OTHER, STATE_ID, scratch } from '../testing/authority.ts';
import { betterDriver } from '../testing/better.ts';
import { code } from '../testing/code.ts';
import { StoreConnection } from './connection.ts';
import type { SqliteDriver } from './driver.ts';
import { ConnectionStore, type Permit } from './guarded-store.ts';
import { nodeSqlite } from './node-sqlite.ts';
import type { Rule } from './rules.ts';
import type { GuardedDatabase } from './scope.ts';

/** A permit that only remembers, so that these tests look at the store alone. */
class Memory implements Permit {
  refused: number[] = [];
  commits = 0;
  current = () => ({ stateId: STATE_ID, epoch: 1, activation: ACTIVATION });
  refusedByRow = (epoch: number): void => void this.refused.push(epoch);
  committed = (): void => void this.commits++;
}

interface Bench {
  readonly path: string;
  readonly store: ConnectionStore;
  readonly permit: Memory;
  readonly hand: LeaseHand;
  /** What the store believes its process to be. */
  readonly process: { id: number };
}

function bench(t: TestContext, driver: SqliteDriver, ...without: readonly Rule[]): Bench {
  const path = join(scratch(t), 'world.db');
  makeStore(path);
  const [permit, process, rules] = [new Memory(), { id: 1 }, new Set(without)];
  const store = new ConnectionStore('world', new StoreConnection(path, driver, rules), permit, () => process.id, rules);
  const hand = new LeaseHand(path, driver);
  t.after(() => {
    hand.close();
    store.connection.close();
  });
  return { path, store, permit, hand, process };
}

const insert = (text: string) => (database: GuardedDatabase) =>
  database.prepare('INSERT INTO world (text) VALUES (?)').run(text);

for (const driver of [nodeSqlite, betterDriver]) {
  test(`${driver.name}: a guarded write is committed, a throwing one leaves nothing`, (t) => {
    const { store, permit, hand } = bench(t, driver);
    assert.equal(Number(store.write(insert('a')).changes), 1);
    assert.throws(() => {
      store.write((database) => {
        insert('b')(database);
        throw new RangeError('the program');
      });
    }, RangeError);
    assert.deepEqual(hand.world(), ['a']);
    assert.equal(permit.commits, 1);
    assert.deepEqual(
      store.read((database) => database.prepare('SELECT text FROM world').all()).map((row) => row['text']),
      ['a'],
    );
  });

  test(`${driver.name}: I1: a row that names another refuses before effect, and the permit hears it`, (t) => {
    const { store, permit, hand } = bench(t, driver);
    hand.swap(2, OTHER);
    let called = false;
    assert.throws(() => {
      store.write(() => {
        called = true;
      });
    }, NotWriter);
    assert.equal(called, false);
    assert.deepEqual(permit.refused, [1]);
    for (const [epoch, activation] of [
      [1, null],
      [2, ACTIVATION],
      [1, OTHER],
    ] as const) {
      hand.swap(epoch, activation);
      assert.throws(() => store.write(insert('x')), NotWriter);
    }
    hand.swap(1, ACTIVATION);
    store.write(insert('positive control'));
    assert.deepEqual(hand.world(), ['positive control']);
  });

  test(`${driver.name}: I1: comparing and writing are one transaction`, (t) => {
    const fencedWhileWriting = (...without: readonly Rule[]) => {
      const { store, hand } = bench(t, driver, ...without);
      let moved = '';
      store.write((database) => {
        moved = hand.swap(2, OTHER);
        insert('late')(database);
      });
      return { moved, world: hand.world() };
    };
    assert.deepEqual(fencedWhileWriting(), { moved: 'busy', world: ['late'] });
    // Without the rule the lease has moved, and the fenced program commits all the same.
    assert.deepEqual(fencedWhileWriting('compare-inside-the-transaction'), { moved: 'swapped', world: ['late'] });
  });

  test(`${driver.name}: I1: a connection is query_only outside a guarded transaction`, (t) => {
    const outside = (...without: readonly Rule[]) => {
      const { store, hand } = bench(t, driver, ...without);
      store.write(insert('a'));
      assert.throws(() => store.write(() => assert.fail('thrown')));
      try {
        store.connection.raw.exec("INSERT INTO world (text) VALUES ('unguarded')");
      } catch {
        // Refused by SQLite.
      }
      return hand.world();
    };
    assert.deepEqual(outside(), ['a']);
    assert.deepEqual(outside('query-only-outside'), ['a', 'unguarded']);
  });

  for (const [how, sql] of [
    ['a conflict clause', "INSERT OR ROLLBACK INTO world (text) VALUES ('a')"],
    ['a trigger', "INSERT INTO world (text) VALUES ('poison')"],
    ['a full disk', 'INSERT INTO plain VALUES (randomblob(100000))'],
  ] as const) {
    test(`${driver.name}: I1: after ${how} ended the transaction nothing more is written`, (t) => {
      const swallowed = (...without: readonly Rule[]) => {
        const { store, hand } = bench(t, driver, ...without);
        store.write((database) => {
          insert('a')(database);
          database.exec(`CREATE TABLE plain (x BLOB);
            CREATE TRIGGER poison BEFORE INSERT ON world WHEN new.text = 'poison'
            BEGIN SELECT RAISE(ROLLBACK, 'poisoned'); END;`);
        });
        const pages = Number(store.connection.raw.prepare('PRAGMA page_count').get()?.['page_count']);
        store.connection.raw.exec(`PRAGMA max_page_count = ${pages + 1}`); // Full beyond one more page.
        let lost = '';
        try {
          store.write((database) => {
            insert('before')(database);
            assert.throws(() => {
              database.exec(sql); // The program swallows the error …
            });
            insert('after')(database); // … and goes on.
          });
        } catch (error) {
          lost = error instanceof IdunnError ? error.code : String(error);
        }
        return { lost, world: hand.world() };
      };
      assert.deepEqual(swallowed(), { lost: 'workload-transaction-lost', world: ['a'] });
      const { world } = swallowed('transaction-still-own');
      assert.deepEqual(world, ['a', 'after'], 'without the rule a write escapes from its transaction');
    });
  }

  test(`${driver.name}: I1: the program cannot end the transaction, nor begin one of its own`, (t) => {
    const escape = (...without: readonly Rule[]) => {
      const { store, hand } = bench(t, driver, ...without);
      let refused = '';
      try {
        store.write((database) => {
          insert('inside')(database);
          database.exec("ROLLBACK; INSERT INTO world (text) VALUES ('escaped'); BEGIN");
        });
      } catch (error) {
        refused = error instanceof IdunnError ? error.code : String(error);
      }
      return { refused, world: hand.world() };
    };
    assert.deepEqual(escape(), { refused: 'workload-statement-refused', world: [] });
    assert.deepEqual(escape('statements-scanned'), { refused: '', world: ['escaped'] });
  });

  test(`${driver.name}: I1: an asynchronous callback is refused, declared or returned`, async (t) => {
    const awaited = async (...without: readonly Rule[]) => {
      const { store, hand } = bench(t, driver, ...without);
      const attempt = (body: (database: GuardedDatabase) => Promise<unknown>) => {
        try {
          return { code: '', result: store.write(body) };
        } catch (error) {
          return { code: error instanceof IdunnError ? error.code : String(error), result: Promise.resolve() };
        }
      };
      const declared = attempt(async (database) => insert('declared')(database));
      const returned = attempt((database) => Promise.resolve(insert('returned')(database)));
      await Promise.all([declared.result, returned.result]);
      return { codes: [declared.code, returned.code], world: hand.world() };
    };
    assert.deepEqual(await awaited(), { codes: ['workload-write-async', 'workload-write-async'], world: [] });
    assert.deepEqual(await awaited('synchronous-callback'), { codes: ['', ''], world: ['declared', 'returned'] });
  });

  test(`${driver.name}: a handle is dead after its transaction`, (t) => {
    const kept = (...without: readonly Rule[]) => {
      const { store } = bench(t, driver, ...without);
      const database = store.write((inside) => inside);
      try {
        return String(database.prepare('SELECT 1 AS one').get()?.['one']);
      } catch (error) {
        return error instanceof IdunnError ? error.code : String(error);
      }
    };
    assert.equal(kept(), 'workload-scope-ended');
    assert.equal(kept('scope-ends', 'transaction-still-own'), '1');
  });

  test(`${driver.name}: a nested write is refused, and the outer one is unharmed`, (t) => {
    const { store, hand } = bench(t, driver);
    store.write((database) => {
      insert('outer')(database);
      assert.throws(() => store.write(insert('inner')), code('workload-write-nested'));
      assert.throws(() => store.read(() => 1), code('workload-write-nested'));
    });
    assert.deepEqual(hand.world(), ['outer']);
    const bare = bench(t, driver, 'no-nesting');
    assert.throws(() => {
      bare.store.write((database) => {
        insert('outer')(database);
        try {
          bare.store.write(insert('inner'));
        } catch {
          // Without the rule the inner attempt takes the outer transaction down with it.
        }
      });
    });
    assert.deepEqual(bare.hand.world(), []);
  });

  test(`${driver.name}: I1: a connection carried over a fork is refused`, (t) => {
    const { store, hand, process } = bench(t, driver);
    store.write(insert('parent'));
    process.id = 2;
    assert.throws(() => store.write(insert('child')), code('workload-write-carried'));
    assert.throws(() => store.read(() => 1), code('workload-write-carried'));
    assert.deepEqual(hand.world(), ['parent']);
    const bare = bench(t, driver, 'not-carried-over-a-fork');
    bare.process.id = 2;
    bare.store.write(insert('child'));
    assert.deepEqual(bare.hand.world(), ['child']);
  });

  test(`${driver.name}: I1: another file in the place of the open one is refused`, (t) => {
    const replaced = (...without: readonly Rule[]) => {
      const { path, store, hand } = bench(t, driver, ...without);
      store.write(insert('before'));
      makeStore(`${path}.new`, 2, OTHER);
      renameSync(path, `${path}.old`);
      renameSync(`${path}.new`, path);
      try {
        store.write(insert('to a file that nobody reads'));
      } catch (error) {
        return error instanceof IdunnError ? error.code : String(error);
      }
      return hand.world().at(-1);
    };
    assert.equal(replaced(), 'workload-store-replaced');
    assert.equal(replaced('same-file'), 'to a file that nobody reads');
  });

  test(`${driver.name}: a write is durable when it returns`, (t) => {
    const { store } = bench(t, driver);
    assert.equal(Number(store.connection.raw.prepare('PRAGMA synchronous').get()?.['synchronous']), 2);
  });

  test(`${driver.name}: a commit that fails leaves its outcome open, never claims one`, (t) => {
    const { store, permit } = bench(t, driver);
    const { raw } = store.connection;
    const exec = raw.exec.bind(raw);
    raw.exec = (sql) => {
      if (sql.includes('COMMIT')) throw new Error('disk I/O error');
      exec(sql);
    };
    assert.throws(() => store.write(insert('x')), code('workload-outcome-unknown'));
    assert.equal(permit.commits, 0);
    raw.exec = exec;
    store.write(insert('y'));
    assert.equal(permit.commits, 1);
  });
}

test('I1: ATTACH by another hand on the connection is seen before warming', (t) => {
  const { path, store } = bench(t, nodeSqlite);
  store.connection.inspect();
  store.connection.raw.exec(`ATTACH '${path}' AS again`);
  assert.throws(() => {
    store.connection.inspect();
  }, code('workload-store-replaced'));
});

test('I1: a write into two stores is compared in both', (t) => {
  const [first, second] = [bench(t, nodeSqlite), bench(t, nodeSqlite)];
  first.store.write((one) =>
    second.store.write((two) => {
      insert('one')(one);
      insert('two')(two);
    }),
  );
  assert.deepEqual([first.hand.world(), second.hand.world()], [['one'], ['two']]);
  second.hand.swap(2, OTHER);
  assert.throws(() => {
    first.store.write((one) => {
      insert('refused')(one);
      second.store.write(insert('refused'));
    });
  }, NotWriter);
  assert.deepEqual([first.hand.world(), second.hand.world()], [['one'], ['two']]);
});
