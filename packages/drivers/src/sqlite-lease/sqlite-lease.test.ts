import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { StateStore } from '@idunn/release';
import { createSqliteLease } from './driver.ts';
import { codeOf, move, Yard } from './testing/yard.ts';

const nobody = { epoch: 0, activation: null };
const claim = { schema: 'idunn.owner-claim/v1', fleet: 'f', target: 'game', stateId: 'game', highestEpoch: 1 } as const;
const store = (id: string): StateStore => ({ id, kind: 'sqlite', path: `${id}.db` });

test('a state begins with an empty row in WAL mode that names nobody, made for the root’s owner', async (t) => {
  const yard = new Yard(t);
  const asRoot = process.geteuid?.() === 0;
  if (asRoot) chownSync(yard.root, 12_345, 12_346);
  const state = yard.state({ id: 'db', kind: 'sqlite', path: 'data/app.db' });
  const row = { stateId: 'game', epoch: 0, activation: null, release: null, stateSchema: 'v1', nonce: null };
  assert.deepEqual(await yard.lease.read(state), { kind: 'absent' });
  assert.deepEqual(await yard.lease.prepare(state), { ok: true, value: { db: row } });
  assert.deepEqual(await yard.lease.prepare(state), { ok: true, value: { db: row } });
  assert.deepEqual(await yard.lease.read(state), { kind: 'seen', value: { db: row } });
  for (const file of ['data', 'data/app.db', 'data/app.db-wal']) {
    assert.equal(statSync(yard.path(file)).uid, asRoot ? 12_345 : process.geteuid?.(), file);
  }
});

test('F20: a state root inside one that any fleet has claimed is refused', async (t) => {
  const yard = new Yard(t);
  const state = yard.state();
  assert.equal((await yard.lease.prepare(state)).ok, true);
  assert.equal((await yard.lease.writeClaim(state, claim, null)).ok, true);
  assert.equal((await yard.lease.prepare(state)).ok, true, 'its own claim stands in nobody’s way');
  mkdirSync(yard.path('a/b'), { recursive: true });
  symlinkSync(yard.path('a/b'), yard.path('link'));
  for (const root of ['a/b', 'link']) {
    const inside = { ...state, root: yard.path(root), stateId: 'other' };
    assert.equal(codeOf(await yard.lease.prepare(inside)), 'state-roots-overlap');
  }
  writeFileSync(yard.path('.idunn-claim.json'), '{');
  assert.equal(codeOf(await yard.lease.prepare({ ...state, root: yard.path('a') })), 'state-roots-overlap');
});

test('I6: a swap that already happened is swapped; another row differs and nothing is written', async (t) => {
  const yard = new Yard(t);
  const state = yard.state();
  await yard.lease.prepare(state);
  const request = move(nobody, 'act-a');
  assert.deepEqual(await yard.lease.swap(state, request), { kind: 'swapped' });
  assert.deepEqual(await yard.lease.swap(state, request), { kind: 'swapped' });
  const differs = await yard.lease.swap(state, move(nobody, 'act-b'));
  assert.ok(differs.kind === 'differs');
  assert.equal(differs.rows['db']?.activation, 'act-a');
  await assert.rejects(yard.lease.swap(state, { ...request, to: { ...request.to, epoch: 0 } }), /an epoch only rises/);
});

test('I6: a swap of several stores that stopped half-way is finished by its repeat', async (t) => {
  const yard = new Yard(t);
  const state = yard.state(store('one'), store('two'));
  await yard.lease.prepare(state);
  await yard.lease.swap(state, move(nobody, 'act-a'));
  // The authority died after it had revoked the first store, and after it had granted the first again.
  for (const half of [
    { epoch: 2, activation: null },
    { epoch: 3, activation: 'act-c' },
  ]) {
    const database = new DatabaseSync(yard.path('one.db'));
    database.prepare('UPDATE idunn_lease SET epoch = ?, activation = ?').run(half.epoch, half.activation);
    if (half.activation !== null) {
      const other = new DatabaseSync(yard.path('two.db'));
      other.exec('UPDATE idunn_lease SET epoch = 3, activation = NULL');
      other.close();
    }
    database.close();
    const from = half.epoch === 2 ? { epoch: 1, activation: 'act-a' } : { epoch: 2, activation: 'act-b' };
    assert.deepEqual(await yard.lease.swap(state, move(from, half.activation ?? 'act-b')), { kind: 'swapped' });
    const rows = await yard.lease.read(state);
    assert.ok(rows.kind === 'seen');
    assert.deepEqual(
      Object.values(rows.value).map((row) => [row.epoch, row.activation]),
      Array.from({ length: 2 }, () => [half.epoch, half.activation ?? 'act-b']),
    );
  }
});

test('a program that holds the database makes the swap busy at its deadline, and names the store', async (t) => {
  const yard = new Yard(t);
  const state = yard.state(store('one'), store('two'));
  await yard.lease.prepare(state);
  const holder = await yard.holder('two.db');
  const before = performance.now();
  assert.deepEqual(await yard.lease.swap(state, move(nobody, 'act-a', 150)), { kind: 'busy', store: 'two' });
  assert.ok(performance.now() - before < 10_000);
  const rows = await yard.lease.read(state);
  assert.ok(rows.kind === 'seen' && rows.value['one']?.epoch === 0, 'nothing of the other store was written');
  const waiting = yard.lease.swap(state, move(nobody, 'act-a'));
  await holder.kill();
  assert.deepEqual(await waiting, { kind: 'swapped' });
});

test('a state that is held delays no other one', async (t) => {
  const yard = new Yard(t);
  const held = yard.state(store('one'));
  const free = yard.state(store('two'));
  await yard.lease.prepare(held);
  await yard.lease.prepare(free);
  await yard.holder('one.db');
  const waiting = yard.lease.swap(held, move(nobody, 'act-a', 400));
  assert.deepEqual(await yard.lease.swap(free, move(nobody, 'act-a')), { kind: 'swapped' });
  assert.equal((await waiting).kind, 'busy');
});

test('I1: an authority killed in the middle of a commit leaves the row, and the program writing', async (t) => {
  const yard = new Yard(t);
  const state = yard.state();
  await yard.lease.prepare(state);
  await yard.lease.swap(state, move(nobody, 'act-a'));
  const writer = await yard.writer('act-a', 2, 'app.db');
  const authority = await yard.holder('app.db');
  writer.grant(1);
  await authority.kill();
  await writer.said('writing 1');
  const rows = await yard.lease.read(state);
  assert.ok(rows.kind === 'seen');
  assert.deepEqual([rows.value['db']?.epoch, rows.value['db']?.activation], [1, 'act-a']);
});

test('a nonce is written beside the row, which stays as it is', async (t) => {
  const yard = new Yard(t);
  const state = yard.state(store('one'), store('two'));
  await yard.lease.prepare(state);
  assert.ok((await yard.lease.writeNonce(state, 'n1')).ok);
  assert.ok((await yard.lease.writeNonce(state, 'n2')).ok);
  const rows = await yard.lease.read(state);
  assert.ok(rows.kind === 'seen');
  assert.deepEqual(
    Object.values(rows.value).map((row) => [row.epoch, row.nonce]),
    [
      [0, 'n2'],
      [0, 'n2'],
    ],
  );
});

test('making a row durable keeps our locks: a program that opens and closes leaves the log', async (t) => {
  const yard = new Yard(t);
  const state = yard.state();
  await yard.lease.prepare(state);
  await yard.lease.swap(state, move(nobody, 'act-a'));
  assert.deepEqual(await yard.lease.sync(state), { ok: true, value: 'durable' });
  const script = `const { DatabaseSync } = require('node:sqlite'); const d = new DatabaseSync(process.argv[1]);
    d.prepare('SELECT epoch FROM idunn_lease').get(); d.close();`;
  assert.equal(spawnSync(process.execPath, ['-e', script, yard.path('app.db')]).status, 0);
  assert.ok(existsSync(yard.path('app.db-wal')));
});

test('the swap moves the row of the file that the path names now, not of one that was moved away', async (t) => {
  const yard = new Yard(t);
  const state = yard.state();
  await yard.lease.prepare(state);
  await yard.lease.swap(state, move(nobody, 'act-a'));
  for (const suffix of ['', '-wal', '-shm']) renameSync(yard.path(`app.db${suffix}`), yard.path(`old.db${suffix}`));
  await yard.lease.prepare(state);
  assert.deepEqual(await yard.lease.swap(state, move(nobody, 'act-b')), { kind: 'swapped' });
});

test('I1: what may be two databases is refused: links, symbolic links, a rollback journal', async (t) => {
  const yard = new Yard(t);
  const state = yard.state();
  await yard.lease.prepare(state);
  linkSync(yard.path('app.db'), yard.path('second.db'));
  assert.equal(codeOf(await yard.lease.prepare(state)), 'store-not-plain');
  unlinkSync(yard.path('second.db'));
  symlinkSync(yard.path('app.db'), yard.path('link.db'));
  assert.equal(codeOf(await yard.lease.prepare(yard.state(store('link')))), 'store-not-plain');
  mkdirSync(yard.path('real'));
  symlinkSync(yard.path('real'), yard.path('way'));
  assert.equal(
    codeOf(await yard.lease.prepare(yard.state({ id: 'w', kind: 'sqlite', path: 'way/a.db' }))),
    'store-not-plain',
  );
  assert.equal(
    codeOf(await yard.lease.prepare(yard.state({ id: 'w', kind: 'sqlite', path: '../a.db' }))),
    'store-not-plain',
  );
  new DatabaseSync(yard.path('old.db')).exec('CREATE TABLE t (x)');
  assert.equal(codeOf(await yard.lease.prepare(yard.state(store('old')))), 'store-not-wal');
  writeFileSync(yard.path('text.db'), 'no database at all, but long enough to look at it twice'.repeat(40));
  assert.equal(codeOf(await yard.lease.prepare(yard.state(store('text')))), 'store-unusable');
});

test('F20: what the claim says was there is never begun anew: root, store and row', async (t) => {
  const yard = new Yard(t);
  const state = yard.state();
  assert.equal(codeOf(await yard.lease.prepare({ ...state, root: yard.path('none') })), 'state-root-missing');
  await yard.lease.prepare(state);
  await yard.lease.writeClaim(state, claim, null);
  const added = yard.state({ id: 'db', kind: 'sqlite', path: 'app.db' }, store('more'));
  await yard.lease.swap(state, move(nobody, 'act-a'));
  const joined = await yard.lease.prepare(added);
  assert.ok(joined.ok);
  assert.deepEqual(
    [joined.value['more']?.epoch, joined.value['more']?.activation],
    [1, 'act-a'],
    'a store that joins has the others’ row',
  );
  const database = new DatabaseSync(yard.path('app.db'));
  database.exec('DELETE FROM idunn_lease');
  database.close();
  assert.equal(codeOf(await yard.lease.prepare(state)), 'lease-row-missing');
  assert.equal((await yard.lease.read(state)).kind, 'unknown');
  for (const suffix of ['', '-wal', '-shm']) renameSync(yard.path(`app.db${suffix}`), yard.path(`gone.db${suffix}`));
  assert.equal(codeOf(await yard.lease.prepare(state)), 'store-missing');
});

test('I5: the row of another state is foreign', async (t) => {
  const yard = new Yard(t);
  const state = yard.state();
  await yard.lease.prepare(state);
  const other = { ...state, stateId: 'other' };
  assert.equal(codeOf(await yard.lease.prepare(other)), 'lease-row-foreign');
  assert.equal((await yard.lease.swap(other, move(nobody, 'act-a'))).kind, 'differs');
});

test('the owner claim is replaced whole and read back; what cannot be read is unknown, never absent', async (t) => {
  const yard = new Yard(t);
  const state = yard.state();
  assert.deepEqual(await yard.lease.readClaim(state), { kind: 'absent' });
  assert.deepEqual(await yard.lease.writeClaim(state, claim, null), { ok: true, value: 'written' });
  assert.deepEqual(await yard.lease.writeClaim(state, { ...claim, highestEpoch: 2 }, null), {
    ok: true,
    value: 'written',
  });
  assert.deepEqual(await yard.lease.readClaim(state), { kind: 'seen', value: { ...claim, highestEpoch: 2 } });
  const file = yard.path('.idunn-claim.json');
  writeFileSync(file, readFileSync(file, 'utf8').slice(0, 20));
  assert.equal((await yard.lease.readClaim(state)).kind, 'unknown');
  assert.equal(
    codeOf(await yard.lease.writeClaim({ ...state, root: yard.path('none') }, claim, null)),
    'claim-not-written',
  );
});

test('I10: what a program puts in the place of the claim is neither followed nor waited for', async (t) => {
  const yard = new Yard(t);
  const state = yard.state();
  const file = yard.path('.idunn-claim.json');
  await yard.lease.writeClaim(state, claim, null);
  renameSync(file, yard.path('elsewhere.json'));
  symlinkSync('elsewhere.json', file);
  assert.equal((await yard.lease.readClaim(state)).kind, 'unknown');
  unlinkSync(file);
  assert.equal(spawnSync('mkfifo', [file]).status, 0);
  assert.equal((await yard.lease.readClaim(state)).kind, 'unknown');
});

test('I10: a disk that hangs is read as unknown within a limit, and once it answers it is read again', async (t) => {
  const yard = new Yard(t);
  const pipe = yard.path('pipe');
  assert.equal(spawnSync('mkfifo', [pipe]).status, 0);
  const due: (() => void)[] = [];
  const timers = { after: (_: number, fire: () => void) => (due.push(fire), () => undefined) };
  const worker = new URL('./testing/stuck-worker.ts', import.meta.url);
  const lease = createSqliteLease({ worker, timers });
  const state = yard.state();
  const first = lease.read(state);
  while (due.length === 0) await nextTurn();
  due.pop()?.();
  const answer = await first;
  assert.match(answer.kind === 'unknown' ? answer.because : '', /^the disk of .+ has not answered for 5000 ms$/);
  assert.equal((await lease.readClaim(state)).kind, 'unknown', 'nothing more is asked of it');
  assert.equal(due.length, 0);
  await writeFile(pipe, '');
  let again: ReturnType<typeof lease.read>;
  do {
    again = lease.read(state);
    await nextTurn();
  } while (due.length === 0);
  await writeFile(pipe, '');
  assert.equal((await again).kind, 'absent');
  await lease.close();
});

test('I1: fleets that claim a new state at once, each in a thread of its own: one owns it', async (t) => {
  const yard = new Yard(t);
  const fleets = ['f', 'g', 'h'];
  const authorities = fleets.map(() => createSqliteLease());
  t.after(() => Promise.all(authorities.map((lease) => lease.close())));
  for (let round = 0; round < 50; round++) {
    const root = yard.path(`round-${round}`);
    mkdirSync(root);
    const state = { ...yard.state(), root };
    const answers = await Promise.all(
      authorities.map((lease, at) => lease.writeClaim(state, { ...claim, fleet: fleets[at] ?? '' }, null)),
    );
    const owners = fleets.filter((_, at) => answers[at]?.ok);
    assert.equal(owners.length, 1, answers.map(codeOf).join());
    assert.deepEqual(await yard.lease.readClaim(state), { kind: 'seen', value: { ...claim, fleet: owners[0] } });
    assert.deepEqual(answers.map(codeOf).toSorted(), ['foreign-claim', 'foreign-claim', 'ok']);
  }
});
