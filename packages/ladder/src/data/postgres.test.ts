import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { seen } from '@idunn/kernel';
import { answerOf, memoryAuditing, SLOTS, valueOf, worldOf } from '../guard/testing/world.ts';
import * as ladder from '../index.ts';
import { type PostgresServer, startPostgres } from './testing/postgres-server.ts';

const clearance = valueOf(await worldOf(ladder).clear({ slot: 'qa' }));
const [, qa, production] = SLOTS as [ladder.Slot, ladder.Slot, ladder.Slot];

let server: PostgresServer;
let staging: string;
let data: ladder.AppData;

before(() => {
  server = startPostgres();
});
after(() => server.stop());

/** Runs statements, each in a transaction of its own, and answers the rows of the last. */
function sql(database: string, ...statements: readonly string[]): string {
  const reach = [`--host=${server.host}`, `--username=${server.user}`, `--dbname=${database}`];
  const commands = statements.flatMap((statement) => ['--command', statement]);
  const argv = [...reach, '--no-psqlrc', '-qtA', '--set=ON_ERROR_STOP=1', ...commands];
  return execFileSync('psql', argv, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}

const SCHEMA = `
  CREATE TABLE orders (id serial PRIMARY KEY, changed timestamptz NOT NULL DEFAULT '2026-11-30T01:00:00Z');
  CREATE TABLE outbox (id int PRIMARY KEY, state text NOT NULL);
  INSERT INTO outbox VALUES (1, 'waiting'), (2, 'waiting'), (3, 'sent')`;

function make(database: string, orders: number): void {
  sql('postgres', `CREATE DATABASE ${database}`);
  sql(database, SCHEMA, `INSERT INTO orders (id) SELECT nextval('orders_id_seq') FROM generate_series(1, ${orders})`);
}

beforeEach(() => {
  staging = mkdtempSync(join(tmpdir(), 'idunn-staging-'));
  data = ladder.postgresData({
    description: 'the shop’s database',
    locate: (slot) => ({ host: server.host, port: server.port, user: server.user, database: slot.name }),
    standing: ladder.NOTHING_RUNS,
    watermark: { mark: { table: 'orders', column: 'changed' }, count: ['public.orders'] },
    neutralise: [{ what: 'outbox', statement: "UPDATE outbox SET state = 'held' WHERE state = 'waiting'" }],
  });
});
afterEach(() => {
  rmSync(staging, { recursive: true });
  for (const name of ['production', 'qa', 'qa_previous', 'qa_incoming'])
    sql('postgres', `DROP DATABASE IF EXISTS ${name}`);
});

const load = () => ladder.loadInto({ data, clearance, slot: qa, staging, auditing: memoryAuditing() });

test('data is copied down whole, sequences included, and what would act on the world is held', async () => {
  make('production', 5);
  make('qa', 1);
  const dumped = valueOf(await data.dump(production, staging));
  assert.deepEqual(dumped.watermark, { mark: '2026-11-30T01:00:00.000000Z', magnitude: { 'public.orders': 5 } });
  assert.deepEqual(ladder.completeness(dumped.parts), { kind: 'complete' });
  assert.deepEqual(dumped.appMeta, { roles: ['postgres'] });
  const loaded = valueOf(await load());
  assert.deepEqual([loaded.neutralised, loaded.parts], [['outbox: 2 rows'], [ladder.part.complete('database', 2)]]);
  assert.equal(sql('qa', 'SELECT count(*) FROM orders'), '5');
  assert.equal(sql('qa', "SELECT nextval('orders_id_seq')"), '6');
  assert.equal(sql('qa', "SELECT string_agg(state, ',' ORDER BY id) FROM outbox"), 'held,held,sent');
  assert.equal(sql('qa_previous', 'SELECT count(*) FROM orders'), '1');
  assert.equal(sql('production', "SELECT count(*) FROM outbox WHERE state = 'waiting'"), '2');
  valueOf(await load());
  assert.equal(sql('qa_previous', 'SELECT count(*) FROM orders'), '5');
});

test('a slot without a database gets one', async () => {
  make('production', 2);
  valueOf(await data.dump(production, staging));
  assert.equal((await data.watermark(qa)).kind, 'absent');
  valueOf(await load());
  const mark = await data.watermark(qa);
  assert.deepEqual(mark, seen({ mark: '2026-11-30T01:00:00.000000Z', magnitude: { 'public.orders': 2 } }));
});

test('what is loaded belongs to the user that loads it, whoever owned it', async () => {
  make('production', 1);
  sql('production', 'CREATE ROLE shopkeeper', 'ALTER TABLE orders OWNER TO shopkeeper');
  const dumped = valueOf(await data.dump(production, staging));
  assert.deepEqual(dumped.appMeta, { roles: ['postgres', 'shopkeeper'] });
  sql('production', 'DROP OWNED BY shopkeeper', 'DROP ROLE shopkeeper');
  valueOf(await load());
  assert.equal(sql('qa', "SELECT tableowner FROM pg_tables WHERE tablename = 'orders'"), 'postgres');
});

test('F28: a load that fails, at the restore or at the exchange, leaves the slot as it was', async () => {
  make('production', 5);
  make('qa', 1);
  valueOf(await data.dump(production, staging));
  const reach = [`--host=${server.host}`, `--username=${server.user}`, '--dbname=qa', '--no-psqlrc', '-qtA'];
  const holder = spawn('psql', reach, { stdio: ['pipe', 'pipe', 'inherit'] });
  holder.stdin.write('SELECT 1;\n');
  await once(holder.stdout, 'data');
  const busy = await load();
  assert.ok(!busy.ok && /accessed by other users/.test(busy.refusal.reason));
  holder.stdin.end();
  await once(holder, 'close');
  writeFileSync(join(staging, ladder.POSTGRES_DUMP), 'no dump at all');
  assert.equal(answerOf(await load()), 'data-not-reached');
  rmSync(join(staging, ladder.POSTGRES_DUMP));
  assert.equal(answerOf(await load()), 'data-unusable');
  assert.equal(sql('qa', 'SELECT count(*) FROM orders'), '1');
});

test('a neutralising statement that fails holds all of them back', async () => {
  make('qa', 1);
  const both = ladder.postgresData({
    description: 'x',
    locate: () => ({ host: server.host, port: server.port, user: server.user, database: 'qa' }),
    standing: ladder.NOTHING_RUNS,
    neutralise: [
      { what: 'outbox', statement: 'DELETE FROM outbox' },
      { what: 'mail', statement: 'DELETE FROM mail' },
    ],
  });
  const outcome = await both.neutraliseAfterLoad(clearance, qa, ladder.quiesced(qa, null));
  assert.ok(!outcome.ok && /relation "mail" does not exist/.test(outcome.refusal.reason));
  assert.equal(sql('qa', 'SELECT count(*) FROM outbox'), '3');
});

test('I10: a server that cannot be reached is unknown, and a database that is not there cannot be dumped', async () => {
  const far = ladder.postgresData({
    description: 'x',
    locate: () => ({ host: '/nowhere', port: 1, user: 'postgres', database: 'qa' }),
    standing: ladder.NOTHING_RUNS,
    watermark: { count: ['orders'] },
  });
  assert.equal((await far.watermark(qa)).kind, 'unknown');
  assert.equal(answerOf(await data.dump(production, staging)), 'data-not-reached');
});

test('no change without a clearance of the slot', async () => {
  const token = ladder.quiesced(production, null);
  assert.equal(answerOf(await data.load(clearance, production, staging, token)), 'clearance-elsewhere');
  assert.equal(answerOf(await data.neutraliseAfterLoad(clearance, production, token)), 'clearance-elsewhere');
});

test('F2: a neutralising line may hold several statements, and one whose quote never closes is refused', async () => {
  make('qa', 1);
  const neutralising = (statement: string) =>
    ladder.postgresData({
      description: 'x',
      locate: () => ({ host: server.host, port: server.port, user: server.user, database: 'qa' }),
      standing: ladder.NOTHING_RUNS,
      neutralise: [{ what: 'outbox', statement }],
      programs: { ...ladder.POSTGRES_PROGRAMS, deadlineMs: 10_000 },
    });
  const token = ladder.quiesced(qa, null);
  const open = await neutralising("DELETE FROM outbox WHERE state = 'sent").neutraliseAfterLoad(clearance, qa, token);
  assert.ok(!open.ok && /unterminated quoted string/.test(open.refusal.reason), JSON.stringify(open));
  const both = neutralising("DELETE FROM outbox WHERE state = 'sent'; DELETE FROM outbox -- \\! nothing goes out");
  assert.deepEqual(valueOf(await both.neutraliseAfterLoad(clearance, qa, token)), ['outbox: 3 rows']);
  assert.equal(sql('qa', 'SELECT count(*) FROM outbox'), '0');
});
