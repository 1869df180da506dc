import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { answerOf, memoryAuditing, SLOTS, valueOf, worldOf } from '../guard/testing/world.ts';
import * as ladder from '../index.ts';

const clearance = valueOf(await worldOf(ladder).clear({ slot: 'qa' }));
const [, qa, production] = SLOTS as [ladder.Slot, ladder.Slot, ladder.Slot];

let root: string;
let staging: string;
let data: ladder.AppData;
const fileOf = (slot: ladder.Slot): string => join(root, `${slot.name}.db`);

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'idunn-sqlite-'));
  staging = join(root, 'staging');
  mkdirSync(staging);
  data = ladder.sqliteData({
    description: 'the shop’s database',
    locate: fileOf,
    standing: ladder.NOTHING_RUNS,
    watermark: { mark: { table: 'orders', column: 'changed' }, count: ['orders', 'outbox'] },
    neutralise: [{ what: 'outbox', statement: "UPDATE outbox SET state = 'held' WHERE state = 'waiting'" }],
  });
});
afterEach(() => rmSync(root, { recursive: true }));

const LEASE = `
  CREATE TABLE idunn_lease (id INTEGER PRIMARY KEY CHECK (id = 1), state_id TEXT NOT NULL, epoch INTEGER NOT NULL,
    activation TEXT, release TEXT, state_schema TEXT NOT NULL) STRICT;
  CREATE TABLE idunn_nonce (id INTEGER PRIMARY KEY CHECK (id = 1), nonce TEXT NOT NULL) STRICT;`;

function make(slot: ladder.Slot, orders: number, lease?: { readonly state: string; readonly epoch: number }): void {
  const database = new DatabaseSync(fileOf(slot));
  database.exec(`PRAGMA journal_mode = WAL; ${lease ? LEASE : ''}
    CREATE TABLE orders (id INTEGER PRIMARY KEY, changed TEXT NOT NULL);
    CREATE TABLE outbox (id INTEGER PRIMARY KEY, state TEXT NOT NULL)`);
  const order = database.prepare('INSERT INTO orders (changed) VALUES (?)');
  for (let n = 0; n < orders; n++) order.run(`2026-11-30T01:00:${String(n).padStart(2, '0')}Z`);
  database.exec("INSERT INTO outbox (state) VALUES ('waiting'), ('waiting'), ('sent')");
  if (lease) {
    database
      .prepare("INSERT INTO idunn_lease VALUES (1, ?, ?, 'act-1', 'rel-1', 'shop/3')")
      .run(lease.state, lease.epoch);
    database.exec("INSERT INTO idunn_nonce VALUES (1, 'n')");
  }
  database.close();
}

function query(slot: ladder.Slot, statement: string): readonly Record<string, unknown>[] {
  const database = new DatabaseSync(fileOf(slot));
  try {
    return database
      .prepare(statement)
      .all()
      .map((row) => ({ ...row }));
  } finally {
    database.close();
  }
}

const load = () => ladder.loadInto({ data, clearance, slot: qa, staging, auditing: memoryAuditing() });

test('data is copied down whole, and what would act on the world is held', async () => {
  make(production, 5);
  make(qa, 1);
  const dumped = valueOf(await data.dump(production, staging));
  assert.deepEqual(dumped.parts, [ladder.part.complete('database', 8)]);
  assert.deepEqual(dumped.watermark, { mark: '2026-11-30T01:00:04Z', magnitude: { orders: 5, outbox: 3 } });
  assert.deepEqual(valueOf(await load()).neutralised, ['outbox: 2 rows']);
  assert.deepEqual(query(qa, 'SELECT count(*) AS n FROM orders'), [{ n: 5 }]);
  assert.deepEqual(query(qa, 'SELECT DISTINCT state FROM outbox ORDER BY 1'), [{ state: 'held' }, { state: 'sent' }]);
  assert.deepEqual(query(production, "SELECT count(*) AS n FROM outbox WHERE state = 'waiting'"), [{ n: 2 }]);
  assert.deepEqual(
    readdirSync(root).filter((name) => name.includes('incoming')),
    [],
  );
});

test('a slot without data gets it', async () => {
  make(production, 2);
  valueOf(await data.dump(production, staging));
  assert.equal((await data.watermark(qa)).kind, 'absent');
  valueOf(await load());
  assert.deepEqual(query(qa, 'SELECT count(*) AS n FROM orders'), [{ n: 2 }]);
});

test('a copy is consistent while a writer never rests', async () => {
  const database = new DatabaseSync(fileOf(production));
  database.exec('PRAGMA journal_mode = WAL; CREATE TABLE a (n INTEGER); CREATE TABLE b (n INTEGER)');
  database.close();
  const program = `
    const { DatabaseSync } = require('node:sqlite');
    const { parentPort, workerData } = require('node:worker_threads');
    const database = new DatabaseSync(workerData, { timeout: 5000 });
    for (let n = 0; ; n++) {
      database.exec('BEGIN IMMEDIATE; INSERT INTO a VALUES (' + n + '); INSERT INTO b VALUES (' + n + '); COMMIT');
      if (n === 200) parentPort.postMessage('busy');
    }`;
  const writer = new Worker(program, { eval: true, workerData: fileOf(production) });
  try {
    await new Promise((resolve) => writer.once('message', resolve));
    for (let copies = 0; copies < 5; copies++) {
      const into = join(root, `copy-${copies}`);
      mkdirSync(into);
      const plain = ladder.sqliteData({ description: 'x', locate: fileOf, standing: ladder.NOTHING_RUNS });
      valueOf(await plain.dump(production, into));
      const copy = new DatabaseSync(join(into, ladder.SQLITE_DUMP));
      const counts = copy.prepare('SELECT (SELECT count(*) FROM a) AS a, (SELECT count(*) FROM b) AS b').get();
      copy.close();
      assert.ok(Number(counts?.['a']) > 200);
      assert.equal(counts?.['a'], counts?.['b']);
    }
  } finally {
    await writer.terminate();
  }
});

test('I1: the copy never brings the lease of where it came from', async () => {
  make(production, 1, { state: 'production-state', epoch: 40 });
  make(qa, 1, { state: 'qa-state', epoch: 7 });
  valueOf(await data.dump(production, staging));
  valueOf(await load());
  const row = { state_id: 'qa-state', epoch: 8, activation: null, release: null, state_schema: 'shop/3' };
  assert.deepEqual(query(qa, 'SELECT state_id, epoch, activation, release, state_schema FROM idunn_lease'), [row]);
  assert.deepEqual(query(qa, 'SELECT * FROM idunn_nonce'), []);
});

test('I1: a slot that had no lease gets none', async () => {
  make(production, 1, { state: 'production-state', epoch: 40 });
  valueOf(await data.dump(production, staging));
  valueOf(await load());
  assert.deepEqual(query(qa, 'SELECT * FROM idunn_lease'), []);
});

test('F28: a load that cannot be made changes nothing', async () => {
  make(production, 5);
  make(qa, 1);
  valueOf(await data.dump(production, staging));
  const holder = new DatabaseSync(fileOf(qa));
  holder.exec('BEGIN IMMEDIATE; DELETE FROM orders');
  assert.equal(answerOf(await load()), 'data-not-reached');
  holder.exec('ROLLBACK');
  holder.close();
  assert.deepEqual(query(qa, 'SELECT count(*) AS n FROM orders'), [{ n: 1 }]);
  writeFileSync(join(staging, ladder.SQLITE_DUMP), 'no database at all');
  assert.equal(answerOf(await load()), 'data-not-reached');
  rmSync(join(staging, ladder.SQLITE_DUMP));
  assert.equal(answerOf(await load()), 'data-unusable');
  assert.deepEqual(query(qa, 'SELECT count(*) AS n FROM orders'), [{ n: 1 }]);
});

test('a neutralising statement that fails holds all of them back', async () => {
  make(qa, 1);
  const both = ladder.sqliteData({
    description: 'x',
    locate: fileOf,
    standing: ladder.NOTHING_RUNS,
    neutralise: [
      { what: 'outbox', statement: 'DELETE FROM outbox' },
      { what: 'mail', statement: 'DELETE FROM mail' },
    ],
  });
  assert.equal(answerOf(await both.neutraliseAfterLoad(clearance, qa, ladder.quiesced(qa, null))), 'data-not-reached');
  assert.deepEqual(query(qa, 'SELECT count(*) AS n FROM outbox'), [{ n: 3 }]);
});

test('a database that is not there is a part that failed, and an unread one has no watermark', async () => {
  const dumped = valueOf(await data.dump(production, staging));
  assert.equal(ladder.completeness(dumped.parts).kind, 'incomplete');
  assert.ok(!existsSync(fileOf(production)));
  new DatabaseSync(fileOf(qa)).exec('CREATE TABLE other (x)');
  const mark = await data.watermark(qa);
  assert.ok(mark.kind === 'unknown' && /no such table/.test(mark.because));
});

test('no change without a clearance of the slot and its word that it stands still', async () => {
  const token = ladder.quiesced(production, null);
  const answers = [
    await data.quiesce(clearance, production),
    await data.load(clearance, production, staging, token),
    await data.neutraliseAfterLoad(clearance, production, token),
    await data.resume(clearance, production, token),
    await data.load(clearance, qa, staging, token),
  ];
  assert.deepEqual(answers.map(answerOf), [...Array<string>(4).fill('clearance-elsewhere'), 'slot-not-quiesced']);
});

test('a neutralising line of several statements is run whole, and a failing one holds all back', async () => {
  make(qa, 2);
  const neutralising = (statement: string) =>
    ladder.sqliteData({
      description: 'the shop’s database',
      locate: fileOf,
      standing: ladder.NOTHING_RUNS,
      neutralise: [{ what: 'outbox', statement }],
    });
  const token = ladder.quiesced(qa, null);
  const failing = neutralising('DELETE FROM outbox; DELETE FROM mail');
  assert.equal(answerOf(await failing.neutraliseAfterLoad(clearance, qa, token)), 'data-not-reached');
  assert.equal(query(qa, 'SELECT * FROM outbox').length, 3);
  const both = neutralising("DELETE FROM outbox WHERE state = 'sent'; DELETE FROM outbox; -- nothing goes out");
  assert.deepEqual(valueOf(await both.neutraliseAfterLoad(clearance, qa, token)), ['outbox: 3 rows']);
  assert.equal(query(qa, 'SELECT * FROM outbox').length, 0);
});
