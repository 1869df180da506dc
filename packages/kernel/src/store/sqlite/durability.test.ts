import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFile, stat, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { StoreFault } from '../port.ts';
import { connect } from './connection.ts';
import { inDirectory, inSmallFileSystem, openStore, program, set, step } from './testing/workbench.ts';

const transaction = { space: 'journal', kind: 'transaction', id: 't' } as const;

/** Fills the store until it refuses, then holds what is there against what was acknowledged. */
async function fillUp(directory: string, options: { maxBytes?: number }, makeRoom: () => Promise<void>): Promise<void> {
  let store = await openStore(directory, options);
  let acknowledged = 0;
  const filling = async (): Promise<never> => {
    for (;;) {
      const result = await store.commit(step(acknowledged + 1, 20_000));
      assert.equal(result.kind, 'committed');
      acknowledged += 1;
    }
  };
  await assert.rejects(filling(), (error) => error instanceof StoreFault && error.code === 'store-full');
  assert.ok(acknowledged > 3);
  const whole = async (): Promise<void> => {
    assert.equal((await store.get(transaction))?.value['n'], acknowledged);
    assert.equal((await store.get(transaction))?.generation, acknowledged);
    assert.equal(await store.verifyHistory(), acknowledged);
  };
  await whole();
  await store.close();
  await makeRoom();
  store = await openStore(directory);
  await whole();
  assert.equal((await store.commit(step(acknowledged + 1))).kind, 'committed');
  await store.close();
}

const nothingToDo = (): Promise<void> => Promise.resolve();

/** A full disk: a tmpfs where the test may mount one, else (only root may) the size limit once more. */
async function fillDisk(): Promise<void> {
  if (process.geteuid?.() !== 0)
    return inDirectory((directory) => fillUp(directory, { maxBytes: 300_000 }, nothingToDo));
  return inSmallFileSystem(1_000_000, async (directory) => {
    const ballast = join(directory, 'ballast');
    await writeFile(ballast, Buffer.alloc(300_000));
    await fillUp(directory, {}, () => unlink(ballast));
  });
}

test('F28: a store at its size limit says so, and keeps what was there', () =>
  inDirectory((directory) => fillUp(directory, { maxBytes: 400_000 }, nothingToDo)));

test('F28: a full disk is an error at that step, and what was there stays', fillDisk);

test('F28: one batch that does not fit takes no other down with it', () =>
  inDirectory(async (directory) => {
    const store = await openStore(directory, { maxBytes: 400_000 });
    const results = await Promise.allSettled([
      store.commit({ mutations: [set('a', 1)] }),
      store.commit(step(1, 3_000_000)),
      store.commit({ mutations: [set('b', 2)] }),
    ]);
    assert.deepEqual(
      results.map((result) => (result.status === 'fulfilled' ? result.value.kind : String(result.reason.code))),
      ['committed', 'store-full', 'committed'],
    );
    assert.equal((await store.get({ ...transaction, id: 'b' }))?.generation, 2);
    await store.close();
  }));

test('F28: a commit that the disk cut short is unknown, and reading tells what is there', () =>
  inDirectory(async (directory) => {
    const writer = program('starved-writer.ts', [directory], ['prlimit', '--fsize=300000']);
    const [line] = (await once(writer.lines, 'line')) as [string];
    assert.equal(await writer.ended, 0);
    const seen = JSON.parse(line) as { n: number; result: { kind: string }; record: number; entries: number };
    assert.equal(seen.result.kind, 'unknown');
    assert.ok(seen.n > 3);
    assert.ok(seen.record === seen.n - 1 || seen.record === seen.n);
    assert.equal(seen.entries, seen.record);
    const store = await openStore(directory);
    assert.equal((await store.get(transaction))?.value['n'], seen.record);
    await store.close();
  }));

test('F27, I6: a killed daemon loses nothing that it acknowledged, and leaves nothing half-written', () =>
  inDirectory(async (directory) => {
    for (const acknowledgements of [2, 40, 7]) {
      const writer = program('writer.ts', [directory]);
      let acknowledged = -1;
      for await (const line of writer.lines) {
        acknowledged += 1;
        if (acknowledged === 0) assert.equal(line, 'opened');
        if (acknowledged === acknowledgements) writer.kill();
      }
      await writer.ended;
      const store = await openStore(directory);
      const n = Number((await store.get(transaction))?.value['n']);
      assert.ok(n >= acknowledged, `${n} is there, ${acknowledged} were acknowledged`);
      const [newest] = await store.history({ newestFirst: true, limit: 1 });
      assert.deepEqual(newest?.body, { n, fill: '' });
      await store.verifyHistory();
      await store.close();
    }
  }));

test('I12: when the thread dies, what was sent is unknown and what was not has not happened', () =>
  inDirectory(async (directory) => {
    const data = { file: join(directory, 'records.db'), holder: { pid: 1, since: '' }, maxBytes: 1e9 };
    const connection = await connect(data, new URL('./testing/dying-thread.ts', import.meta.url));
    const batch = { batch: { mutations: [], history: [] } };
    const sent = connection.ask('commit', batch);
    const waiting = connection.ask('commit', batch);
    assert.equal((await sent).kind, 'unknown');
    await assert.rejects(waiting, (error) => error instanceof StoreFault && error.code === 'store-write-failed');
    await assert.rejects(connection.ask('stateVersion', {}), StoreFault);
    await connection.ended();
  }));

test('a backup is a whole store, taken while writing goes on, and replaces nothing', () =>
  inDirectory(async (directory) => {
    const store = await openStore(directory);
    for (let n = 1; n <= 20; n += 1) await store.commit(step(n, 5_000));
    const file = join(directory, 'backup.db');
    const [, ...later] = await Promise.all([
      store.backup(file),
      ...Array.from({ length: 20 }, (_, n) => store.commit(step(21 + n))),
    ]);
    assert.ok(later.every((result) => result.kind === 'committed'));
    await assert.rejects(store.backup(file), StoreFault);
    await store.close();
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    await inDirectory(async (elsewhere) => {
      await copyFile(file, join(elsewhere, 'records.db'));
      const restored = await openStore(elsewhere);
      const entries = await restored.verifyHistory();
      assert.ok(entries >= 20 && entries <= 40);
      assert.equal((await restored.get(transaction))?.value['n'], entries);
      await restored.close();
    });
  }));
