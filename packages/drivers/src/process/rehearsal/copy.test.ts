import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { systemTimers } from '@idunn/kernel';
import type { StateStore } from '@idunn/release';
import { runCopier } from './run-copier.ts';

const db: StateStore = { id: 'db', kind: 'sqlite', path: 'data/app.db' };
const files: StateStore = { id: 'uploads', kind: 'files', path: 'uploads' };

class Place {
  readonly from: string;
  readonly #root: string;
  readonly #programs: ChildProcess[] = [];
  #copies = 0;

  constructor(t: TestContext) {
    this.#root = mkdtempSync(join(tmpdir(), 'idunn-c-'));
    this.from = join(this.#root, 'state');
    mkdirSync(join(this.from, 'data'), { recursive: true });
    t.after(async () => {
      for (const program of this.#programs) await end(program);
      rmSync(this.#root, { recursive: true });
    });
  }

  get file(): string {
    return join(this.from, db.path);
  }

  /** A program that writes until it is refused; ready when this resolves. */
  async writer(mode: string, how = 'go'): Promise<ChildProcess> {
    const script = new URL('testing/pair-writer.ts', import.meta.url).pathname;
    const child = spawn(process.execPath, [script, this.file, mode, how], { stdio: ['pipe', 'pipe', 'pipe'] });
    this.#programs.push(child);
    const said = how === 'hold' ? 'holding' : 'ready';
    for await (const line of createInterface({ input: child.stdout })) if (line === said) break;
    return child;
  }

  async copy(stores: readonly StateStore[] = [db], limitBytes = 1e9) {
    this.#copies += 1;
    const to = join(this.#root, `copy-${this.#copies}`);
    const signal = new AbortController().signal;
    const orders = { from: this.from, to, stores, limitBytes };
    const answer = await runCopier(orders, { activation: 'none', timers: systemTimers, signal });
    return { to, answer };
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** The one value that all rows of a consistent copy have. */
function momentOf(file: string): number {
  const database = new DatabaseSync(file);
  const values = database.prepare('SELECT DISTINCT v FROM pairs').all();
  assert.equal(database.prepare('PRAGMA integrity_check').get()?.['integrity_check'], 'ok');
  database.close();
  assert.equal(values.length, 1, 'the copy is of one moment');
  return values[0]?.['v'] as number;
}

for (const mode of ['wal', 'delete', 'truncate', 'persist']) {
  test(`I7: a database in ${mode} mode is copied at one moment, and its writer is never refused a lock`, async (t) => {
    const place = new Place(t);
    const writer = await place.writer(mode);
    const moments: number[] = [];
    for (let turn = 0; turn < 4; turn++) {
      const { to, answer } = await place.copy();
      assert.equal(answer.kind, 'copied', JSON.stringify(answer));
      moments.push(momentOf(join(to, db.path)));
    }
    assert.equal(writer.exitCode, null, String(writer.stderr?.read() ?? ''));
    assert.ok((moments.at(-1) ?? 0) > (moments[0] ?? 0), 'it wrote on between the copies');
  });
}

test('I6: what a killed writer left half-written is rolled back in the copy, and only there', async (t) => {
  for (const alive of [true, false]) {
    const place = new Place(t);
    const writer = await place.writer('delete', 'hold');
    if (!alive) await end(writer);
    const before = readFileSync(`${place.file}-journal`);
    const { to, answer } = await place.copy();
    assert.equal(answer.kind, 'copied', JSON.stringify(answer));
    assert.equal(momentOf(join(to, db.path)), 3);
    assert.deepEqual(readFileSync(`${place.file}-journal`), before);
  }
});

test('a copy of a WAL database leaves its log and its index as they are, though nobody has it open', async (t) => {
  const place = new Place(t);
  await end(await place.writer('wal'));
  const before = readFileSync(`${place.file}-wal`);
  assert.equal((await place.copy()).answer.kind, 'copied');
  assert.deepEqual(readFileSync(`${place.file}-wal`), before);
});

test('I1: the lease row of a copy names nobody, and belongs to no state', async (t) => {
  const place = new Place(t);
  const database = new DatabaseSync(place.file);
  database.exec(`CREATE TABLE idunn_lease (id, state_id TEXT, epoch, activation, release, state_schema);
    INSERT INTO idunn_lease VALUES (1, 'game', 7, 'act-a', 'r', 'v1')`);
  database.close();
  const { to } = await place.copy();
  const copy = new DatabaseSync(join(to, db.path));
  const { state_id: stateId, activation } = copy.prepare('SELECT * FROM idunn_lease').get() ?? {};
  copy.close();
  assert.deepEqual([stateId, activation], ['copy of game', null]);
});

test('files are copied with their modes; no link is followed, and none leads out of the copy', async (t) => {
  const place = new Place(t);
  const root = join(place.from, 'uploads');
  mkdirSync(join(root, 'deep/er'), { recursive: true });
  writeFileSync(join(root, 'deep/er/a.txt'), 'a', { mode: 0o640 });
  symlinkSync('deep/er/a.txt', join(root, 'inside'));
  symlinkSync('../../data', join(root, 'outside'));
  symlinkSync('/etc/passwd', join(root, 'absolute'));
  symlinkSync('/', join(root, 'deep/all'));
  const { to, answer } = await place.copy([files, { ...files, id: 'none', path: 'none' }]);
  assert.equal(answer.kind, 'copied', JSON.stringify(answer));
  const names = readdirSync(join(to, 'uploads'), { recursive: true, encoding: 'utf8' }).toSorted();
  assert.deepEqual(names, ['deep', 'deep/er', 'deep/er/a.txt', 'inside']);
  assert.equal(readlinkSync(join(to, 'uploads/inside')), 'deep/er/a.txt');
  assert.equal(statSync(join(to, 'uploads/deep/er/a.txt')).mode & 0o777, 0o640);
});

test('F28: a copy that would pass its limit, or fill the disk, is not begun', async (t) => {
  const place = new Place(t);
  mkdirSync(join(place.from, 'uploads'));
  writeFileSync(join(place.from, 'uploads/a'), 'x'.repeat(10_000));
  const large = await place.copy([files], 9_999);
  assert.equal(large.answer.kind, 'too-large');
  // A file of holes: a petabyte in name.
  truncateSync(join(place.from, 'uploads/a'), 1e13);
  const full = await place.copy([files], 1e16);
  assert.equal(full.answer.kind, 'no-space');
  assert.ok(![large, full].some(({ to }) => existsSync(to)));
});

test('a state without a store yet is copied as nothing', async (t) => {
  const place = new Place(t);
  const { to, answer } = await place.copy([db, files]);
  assert.deepEqual(answer, { kind: 'copied', bytes: 0 });
  assert.deepEqual(readdirSync(to), ['data']);
});
