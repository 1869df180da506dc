import assert from 'node:assert/strict';
import { readdirSync, readFileSync, renameSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { StateContract, StateStore } from '@idunn/release';
import { createSqliteLease } from './driver.ts';
import { codeOf, move, Yard } from './testing/yard.ts';

const nobody = { epoch: 0, activation: null };
const claim = { schema: 'idunn.owner-claim/v1', fleet: 'f', target: 'game', stateId: 'game', highestEpoch: 1 } as const;
const files: StateStore = { id: 'uploads', kind: 'files', path: 'uploads' };
const theirs: StateStore = { id: 'db', kind: 'sqlite', path: 'theirs.db' };

const fileState = (yard: Yard, ...stores: readonly StateStore[]): StateContract => ({
  ...yard.state(...stores),
  lease: 'file',
  fence: 'tree-empty',
});

const parts = ['.idunn-lease', '.idunn-lease-shm', '.idunn-lease-wal'];

test('a lease file lies beside the claim; nothing of the program’s own is made, opened or written', async (t) => {
  const yard = new Yard(t);
  const state = fileState(yard, files, theirs);
  assert.ok((await yard.lease.prepare(state)).ok);
  assert.deepEqual(readdirSync(yard.root).toSorted(), parts);
  assert.equal(statSync(yard.path('.idunn-lease')).mode & 0o777, 0o600);
  // A database in rollback mode is the program's own affair, and stays as it is to the byte.
  const database = new DatabaseSync(yard.path('theirs.db'));
  database.exec('CREATE TABLE t (x)');
  database.close();
  const before = readFileSync(yard.path('theirs.db'));
  assert.ok((await yard.lease.prepare(state)).ok);
  assert.deepEqual(await yard.lease.swap(state, move(nobody, 'act-a')), { kind: 'swapped' });
  assert.ok((await yard.lease.writeNonce(state, 'n')).ok);
  assert.ok((await yard.lease.sync(state)).ok);
  assert.deepEqual(readFileSync(yard.path('theirs.db')), before);
  assert.deepEqual(readdirSync(yard.root).toSorted(), [...parts, 'theirs.db']);
});

test('I11: no store may bear a name of Idunn’s own, or be reached through a symbolic link', async (t) => {
  const yard = new Yard(t);
  for (const path of ['.idunn-lease', '.idunn-claim.json', '.idunn-anything/x']) {
    for (const kind of ['files', 'sqlite'] as const) {
      assert.equal(codeOf(await yard.lease.prepare(fileState(yard, { id: 's', kind, path }))), 'store-not-plain');
    }
  }
  symlinkSync('/etc', yard.path('uploads'));
  assert.equal(codeOf(await yard.lease.prepare(fileState(yard, files))), 'store-not-plain');
  assert.deepEqual(readdirSync(yard.root), ['uploads'], 'what is refused leaves nothing');
});

test('F27, F28: a lease file that is torn, emptied, foreign or gone is never absent, never begun anew', async (t) => {
  const spoil: Readonly<Record<string, (yard: Yard) => void>> = {
    torn: (yard) => {
      truncateSync(yard.path('.idunn-lease'), 100);
    },
    emptied: (yard) => {
      truncateSync(yard.path('.idunn-lease'), 0);
    },
    foreign: (yard) => {
      writeFileSync(yard.path('.idunn-lease'), 'no database, but long enough to be looked at twice '.repeat(99));
    },
    gone: (yard) => renameSync(yard.path('.idunn-lease'), yard.path('kept')),
  };
  for (const [name, act] of Object.entries(spoil)) {
    const yard = new Yard(t);
    const state = fileState(yard, files);
    assert.ok((await yard.lease.prepare(state)).ok);
    assert.ok((await yard.lease.writeClaim(state, claim, null)).ok);
    assert.equal((await yard.lease.swap(state, move(nobody, 'act-a'))).kind, 'swapped');
    await yard.lease.close();
    act(yard);
    const later = createSqliteLease();
    t.after(() => later.close());
    assert.equal((await later.read(state)).kind, 'unknown', name);
    assert.equal((await later.swap(state, move(nobody, 'act-b'))).kind, 'unknown', name);
    assert.notEqual(codeOf(await later.prepare(state)), 'ok', name);
  }
});

test('F28: a row that cannot be written stays as it was', async (t) => {
  const yard = new Yard(t);
  const state = fileState(yard, files);
  await yard.lease.prepare(state);
  await yard.lease.swap(state, move(nobody, 'act-a'));
  const { size } = statSync(yard.path('.idunn-lease-wal'));
  // No file of this daemon may grow over what the log has already.
  const cramped = yard.racer(state, 'act-b', 1, ['/usr/bin/prlimit', `--fsize=${size}`, '--']);
  await cramped.ended;
  assert.deepEqual(cramped.answers, [{ kind: 'unknown', epoch: 2 }]);
  const rows = await yard.lease.read(state);
  assert.ok(rows.kind === 'seen');
  assert.deepEqual([rows.value['lease']?.epoch, rows.value['lease']?.activation], [1, 'act-a']);
});

test('I1: of two daemons that race for the row each epoch has one winner', async (t) => {
  const yard = new Yard(t);
  const state = fileState(yard, files);
  await yard.lease.prepare(state);
  const racers = ['act-a', 'act-b'].map((name) => yard.racer(state, name, 150));
  await Promise.all(racers.map(({ ended }) => ended));
  const won = racers.flatMap(({ epochs }) => epochs);
  assert.equal(new Set(won).size, won.length, 'no epoch was won twice');
  assert.ok(racers.every(({ epochs }) => epochs.length > 0));
  const rows = await yard.lease.read(state);
  assert.equal(rows.kind === 'seen' && rows.value['lease']?.epoch, Math.max(...won));
});

test('I6: a daemon killed amid its swaps leaves the row whole, at what it was told or one further', async (t) => {
  const yard = new Yard(t);
  const state = fileState(yard, files);
  await yard.lease.prepare(state);
  const racer = yard.racer(state, 'act-a', 1e6);
  await racer.moved(20);
  racer.child.kill('SIGKILL');
  await racer.ended;
  const rows = await yard.lease.read(state);
  assert.ok(rows.kind === 'seen');
  const last = racer.epochs.at(-1) ?? 0;
  const at = rows.value['lease']?.epoch ?? 0;
  assert.ok(at === last || at === last + 1, `${at} after ${last}`);
  assert.equal((await yard.lease.swap(state, move(rows.value['lease'] ?? nobody, 'act-b'))).kind, 'swapped');
});

test('I1: a row follows its program from the stores into a file and back, with holder and epoch', async (t) => {
  const yard = new Yard(t);
  const rows = yard.state();
  const file: StateContract = { ...rows, lease: 'file', fence: 'tree-empty' };
  const named = async (state: StateContract): Promise<unknown> => {
    const prepared = await yard.lease.prepare(state);
    return prepared.ok && Object.values(prepared.value).map(({ epoch, activation }) => [epoch, activation]);
  };
  await yard.lease.prepare(rows);
  await yard.lease.swap(rows, move({ epoch: 0, activation: null }, 'act-a'));
  await yard.lease.writeClaim(rows, claim, null);
  assert.deepEqual(await named(file), [[1, 'act-a']], 'the file begins where the rows are');
  await yard.lease.swap(file, move({ epoch: 1, activation: 'act-a' }, 'act-b'));
  await yard.lease.writeClaim(file, { ...claim, highestEpoch: 2 }, null);
  assert.deepEqual(await named(file), [[2, 'act-b']]);
  assert.deepEqual(await named(rows), [[2, 'act-b']], 'the old rows are behind, and are raised');
  assert.deepEqual(await yard.lease.read(rows), await yard.lease.prepare(rows).then(seenOf));
});

const seenOf = (outcome: Awaited<ReturnType<Yard['lease']['prepare']>>) =>
  outcome.ok ? { kind: 'seen', value: outcome.value } : { kind: 'refused' };
