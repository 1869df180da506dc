import assert from 'node:assert/strict';
import { once } from 'node:events';
import { open, stat, truncate, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { StoreFault } from '../port.ts';
import { inDirectory, openStore, program, step } from './testing/workbench.ts';

const faultWith =
  (code: StoreFault['code'], text = '') =>
  (error: unknown): boolean =>
    error instanceof StoreFault && error.code === code && error.message.includes(text);

/** A store of some steps, closed; then what `spoil` does to its file. */
async function spoiled(directory: string, spoil: (file: string) => Promise<unknown> | void): Promise<void> {
  const store = await openStore(directory);
  for (let n = 1; n <= 50; n += 1) await store.commit(step(n, 2_000));
  await store.close();
  await spoil(join(directory, 'records.db'));
}

const execute = (statement: string) => (file: string) => {
  const database = new DatabaseSync(file);
  database.exec(statement);
  database.close();
};

test('one daemon per store: a second opener is told who holds it', () =>
  inDirectory(async (directory) => {
    const store = await openStore(directory);
    await assert.rejects(openStore(directory), faultWith('store-locked', `process ${process.pid} since`));
    await assert.rejects(openStore(directory), faultWith('store-locked', `process ${process.pid} since`));
    assert.equal((await store.commit(step(1))).kind, 'committed');
    await store.close();
    await (await openStore(directory)).close();
  }));

test('F1: the lock ends with the process that held it, however it ended', () =>
  inDirectory(async (directory) => {
    const holder = program('writer.ts', [directory]);
    await once(holder.lines, 'line');
    await assert.rejects(openStore(directory), faultWith('store-locked', `process ${holder.pid} since`));
    holder.kill();
    await holder.ended;
    await (await openStore(directory)).close();
  }));

test('F24: of several openers at once at most one gets the store', () =>
  inDirectory(async (directory) => {
    const results = await Promise.allSettled(Array.from({ length: 6 }, () => openStore(directory)));
    const opened = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    assert.ok(opened.length <= 1);
    for (const result of results) {
      if (result.status === 'rejected') assert.ok(faultWith('store-locked')(result.reason), String(result.reason));
    }
    for (const store of opened) await store.close();
    await (await openStore(directory)).close();
  }));

test('the store and its lock are readable by their owner only', () =>
  inDirectory(async (directory) => {
    await spoiled(directory, async (file) => {
      for (const path of [file, `${file}.lock`]) assert.equal((await stat(path)).mode & 0o777, 0o600, path);
    });
  }));

test('F28: a store that was here and is gone, or empty, is loud and never begun anew', () =>
  inDirectory(async (directory) => {
    await spoiled(directory, (file) => truncate(file));
    await assert.rejects(openStore(directory), faultWith('store-unreadable', 'gone or empty'));
    await unlink(join(directory, 'records.db'));
    await assert.rejects(openStore(directory), faultWith('store-unreadable', 'gone or empty'));
  }));

test('I6: an opener that died before its store was there is followed by one that begins it', () =>
  inDirectory(async (directory) => {
    await writeFile(join(directory, 'records.db'), '', { mode: 0o600 });
    await writeFile(join(directory, 'records.db.lock'), '', { mode: 0o600 });
    await (await openStore(directory)).close();
  }));

test('F28: a file that is no store, or is damaged, is refused at the start', async () => {
  const garbage = (file: string) => writeFile(file, 'x'.repeat(8192));
  const torn = async (file: string) => {
    const handle = await open(file, 'r+');
    await handle.write(Buffer.alloc(3000, 0xab), 0, 3000, 4096 * 3 + 100);
    await handle.close();
  };
  const halved = async (file: string) => truncate(file, Math.floor((await stat(file)).size / 2 / 4096) * 4096);
  for (const spoil of [garbage, torn, halved, execute('PRAGMA application_id = 7')]) {
    await inDirectory(async (directory) => {
      await spoiled(directory, spoil);
      await assert.rejects(openStore(directory), faultWith('store-unreadable'));
    });
  }
});

test('F28: tables of another version are refused, not converted', () =>
  inDirectory(async (directory) => {
    await spoiled(directory, execute('PRAGMA user_version = 2'));
    await assert.rejects(openStore(directory), faultWith('store-version-unknown'));
  }));

test('a history whose end was changed or cut off is refused at the start', async () => {
  for (const statement of [
    "UPDATE history SET entry = replace(entry, 'ada', 'bob') WHERE sequence = 50",
    'DELETE FROM history WHERE sequence = 50',
    'DELETE FROM history',
  ]) {
    await inDirectory(async (directory) => {
      await spoiled(directory, execute(statement));
      await assert.rejects(openStore(directory), faultWith('store-unreadable'));
    });
  }
});

test('a history that was changed in its middle is found where it is read, and by the whole check', async () => {
  const changes = [
    ["UPDATE history SET entry = replace(entry, 'ada', 'bob') WHERE sequence = 20", true],
    ['DELETE FROM history WHERE sequence = 20', false],
  ] as const;
  for (const [statement, seenWhenRead] of changes) {
    await inDirectory(async (directory) => {
      await spoiled(directory, execute(statement));
      const store = await openStore(directory);
      await assert.rejects(store.verifyHistory(), faultWith('store-unreadable'));
      if (seenWhenRead) await assert.rejects(store.history(), faultWith('store-unreadable'));
      await store.close();
    });
  }
});

test('F28: a record that cannot be decoded is a fault where it is read, and stays', () =>
  inDirectory(async (directory) => {
    await spoiled(directory, execute(`UPDATE record SET value = '{"schema":"idunn.transaction/v1"}'`));
    const store = await openStore(directory);
    await assert.rejects(
      store.get({ space: 'journal', kind: 'transaction', id: 't' }),
      faultWith('store-unreadable', 'Record transaction t'),
    );
    await assert.rejects(store.list('journal', 'transaction'), faultWith('store-unreadable'));
    await store.close();
  }));
