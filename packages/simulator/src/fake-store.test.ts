import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Batch, openRecordStore, type RecordKey, type RecordKind, StoreFault, systemClock } from '@idunn/kernel';
import { CONTRACT_KINDS, recordStoreContract } from '@idunn/kernel/testing';
import * as fc from 'fast-check';
import { type FakeStoreHook, fakeStore, type WriteFate } from './fake-store.ts';

recordStoreContract('the simulator’s fake', () => {
  const disk = fakeStore(CONTRACT_KINDS);
  return Promise.resolve({
    open: (kinds: readonly RecordKind[]) => Promise.resolve(disk.open(kinds)),
    dispose: () => Promise.resolve(),
  });
});

const key = (space: RecordKey['space'], id: string): RecordKey => ({
  space,
  kind: space === 'catalogue' ? 'target' : 'transaction',
  id,
});
const target = key('catalogue', 'a');
const put = (n: number): Batch => ({
  mutations: [{ key: target, expect: 'any', next: { schema: 'idunn.target/v1', n } }],
});

const batches: fc.Arbitrary<Batch> = fc.record({
  mutations: fc.uniqueArray(
    fc
      .tuple(fc.constantFrom<RecordKey['space']>('catalogue', 'journal'), fc.constantFrom('a', 'b', 'c'))
      .chain(([space, id]) =>
        fc.record({
          key: fc.constant(key(space, id)),
          expect: fc.oneof(fc.constantFrom<'absent' | 'any'>('absent', 'any'), fc.integer({ min: 1, max: 12 })),
          next: fc.oneof(
            fc.constant(null),
            fc
              .integer()
              .map((n) => ({ schema: space === 'catalogue' ? 'idunn.target/v1' : 'idunn.transaction/v1', n })),
          ),
        }),
      ),
    { maxLength: 4, selector: (mutation) => `${mutation.key.space}/${mutation.key.id}` },
  ),
  history: fc.array(
    fc.record({
      kind: fc.constant('step'),
      subject: fc.constantFrom('a', 'b'),
      actor: fc.string(),
      tenant: fc.constant('local'),
      atMs: fc.nat(),
      body: fc.jsonValue({ maxDepth: 2 }).map((body) => JSON.parse(JSON.stringify(body)) as null),
    }),
    { maxLength: 2 },
  ),
});

test('fake and real store give the same answers to the same batches', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'idunn-fake-'));
  let run = 0;
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(batches, { minLength: 1, maxLength: 20 }), async (script) => {
        run += 1;
        const file = join(directory, `${run}.db`);
        const real = await openRecordStore({ file, kinds: CONTRACT_KINDS, clock: systemClock() });
        const fake = fakeStore(CONTRACT_KINDS).open();
        const told = [];
        for (const store of [real, fake]) {
          told.push({
            answers: await Promise.all(script.map((batch) => store.commit(batch))),
            records: [await store.list('catalogue', 'target'), await store.list('journal', 'transaction')],
            history: await store.history(),
            stateVersion: await store.stateVersion(),
          });
          await store.close();
        }
        assert.deepEqual(told[1], told[0]);
      }),
      { numRuns: 30 },
    );
  } finally {
    await rm(directory, { recursive: true });
  }
});

/** Whether a promise is still open after everything else has run. */
const silent = async (promise: Promise<unknown>): Promise<boolean> =>
  Promise.race([promise.then(() => false), new Promise<boolean>((resolve) => setImmediate(() => resolve(true)))]);

for (const [where, survives] of [
  ['beforeWrite', false],
  ['afterWrite', true],
] as const) {
  const breaking = (fate: WriteFate): FakeStoreHook => ({ [where]: () => fate });

  test(`I6: a crash ${where} ends the process and ${survives ? 'keeps' : 'loses'} the write`, async () => {
    const disk = fakeStore(CONTRACT_KINDS, breaking('die'));
    const dead = disk.open();
    assert.ok(await silent(dead.commit(put(1))));
    assert.ok(await silent(dead.get(target)), 'the dead are told nothing');
    assert.equal(disk.writes(), survives ? 1 : 0);
    assert.equal((await disk.open().get(target)) !== null, survives);
  });

  test(`F8: an unknown answer ${where} is settled by reading back`, async () => {
    const store = fakeStore(CONTRACT_KINDS, breaking('unknown')).open();
    assert.equal((await store.commit(put(1))).kind, 'unknown');
    assert.equal((await store.get(target)) !== null, survives);
  });
}

test('F28: a full disk is a fault, and nothing was written', async () => {
  const store = fakeStore(CONTRACT_KINDS, { beforeWrite: () => 'full' }).open();
  await assert.rejects(store.commit(put(1)), (error) => error instanceof StoreFault && error.code === 'store-full');
  assert.equal(await store.get(target), null);
});

test('a conflict is no write: the hook is not asked', async () => {
  const asked: Batch[] = [];
  const hook: FakeStoreHook = {
    beforeWrite(batch) {
      asked.push(batch);
      return 'go';
    },
  };
  const store = fakeStore(CONTRACT_KINDS, hook).open();
  const conflict = await store.commit({ mutations: [{ key: target, expect: 3, next: null }] });
  assert.equal(conflict.kind, 'conflict');
  assert.deepEqual(asked, []);
});

test('a process that a power cut ended, or that another followed, is told nothing more', async () => {
  const disk = fakeStore(CONTRACT_KINDS);
  const first = disk.open();
  await first.commit(put(1));
  disk.crash();
  assert.ok(await silent(first.commit(put(2))));
  const second = disk.open();
  const third = disk.open();
  assert.ok(await silent(second.commit(put(3))));
  assert.deepEqual((await third.get(target))?.value, { schema: 'idunn.target/v1', n: 1 });
});
