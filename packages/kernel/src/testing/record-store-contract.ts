import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { z } from 'zod';
import { digestJson } from '../digest.ts';
import type { RecordKind } from '../store/kinds.ts';
import type { CommitResult, HistoryDraft, Mutation, RecordKey, RecordStore, RecordValue } from '../store/port.ts';
import { StoreFault } from '../store/port.ts';

/** One empty store that can be closed and opened again. */
export interface RecordStoreHarness {
  open(kinds: readonly RecordKind[]): Promise<RecordStore>;
  dispose(): Promise<void>;
}

const shapeOf = (schema: string) => z.strictObject({ schema: z.literal(schema), n: z.int() });

/** The record kinds that the suite writes. */
export const CONTRACT_KINDS = [
  { space: 'catalogue', kind: 'target', versions: { 'idunn.target/v1': shapeOf('idunn.target/v1') } },
  {
    space: 'journal',
    kind: 'transaction',
    versions: {
      'idunn.transaction/v1': shapeOf('idunn.transaction/v1'),
      'idunn.transaction/v2': shapeOf('idunn.transaction/v2'),
    },
  },
] as const satisfies readonly RecordKind[];

const target = (id: string): RecordKey => ({ space: 'catalogue', kind: 'target', id });
const transaction = (id: string): RecordKey => ({ space: 'journal', kind: 'transaction', id });
const value = (key: RecordKey, n = 0): RecordValue => ({ schema: `idunn.${key.kind}/v1`, n });
const put = (key: RecordKey, expect: Mutation['expect'], n = 0): Mutation => ({ key, expect, next: value(key, n) });
const remove = (key: RecordKey, expect: Mutation['expect']): Mutation => ({ key, expect, next: null });
const draft = (subject: string, body: HistoryDraft['body'] = null): HistoryDraft => ({
  kind: 'contract.step',
  subject,
  actor: 'ada',
  tenant: 'local',
  atMs: 1_700_000_000_000,
  body,
});
const faultWith = (code: StoreFault['code']) => (error: unknown) => error instanceof StoreFault && error.code === code;

/** What every record store must do, whatever it is kept in. Run it once for each backend. */
export function recordStoreContract(name: string, fresh: () => Promise<RecordStoreHarness>): void {
  describe(`record store on ${name}`, () => {
    let harness: RecordStoreHarness;
    let store: RecordStore;
    const commit = (...mutations: Mutation[]): Promise<CommitResult> => store.commit({ mutations });
    const reopen = async (kinds: readonly RecordKind[] = CONTRACT_KINDS): Promise<void> => {
      await store.close();
      store = await harness.open(kinds);
    };

    beforeEach(async () => {
      harness = await fresh();
      store = await harness.open(CONTRACT_KINDS);
    });
    afterEach(async () => {
      await store.close();
      await harness.dispose();
    });

    test('a record is created once, and read as it was written', async () => {
      assert.equal(await store.get(target('a')), null);
      assert.deepEqual(await commit(put(target('a'), 'absent', 7)), {
        kind: 'committed',
        stateVersion: 1,
        generations: [1],
      });
      assert.deepEqual(await store.get(target('a')), { key: target('a'), generation: 1, value: value(target('a'), 7) });
      assert.deepEqual(await commit(put(target('a'), 'absent', 8)), {
        kind: 'conflict',
        key: target('a'),
        actual: 1,
      });
      assert.deepEqual((await store.get(target('a')))?.value, value(target('a'), 7));
    });

    test('a change names the generation that it saw', async () => {
      await commit(put(target('a'), 'absent'));
      assert.deepEqual(await commit(put(target('a'), 1, 1)), { kind: 'committed', stateVersion: 2, generations: [2] });
      assert.deepEqual(await commit(put(target('a'), 1, 2)), { kind: 'conflict', key: target('a'), actual: 2 });
      assert.deepEqual(await commit(put(target('b'), 1)), { kind: 'conflict', key: target('b'), actual: 'absent' });
      assert.deepEqual(await commit(put(target('a'), 'any', 3)), {
        kind: 'committed',
        stateVersion: 3,
        generations: [3],
      });
    });

    test('an unchanged apply raises the generation, an unrelated write leaves it alone', async () => {
      await commit(put(target('a'), 'absent', 1));
      await commit(put(target('a'), 1, 1));
      await commit(put(target('b'), 'absent'));
      assert.equal((await store.get(target('a')))?.generation, 2);
      assert.equal(await store.stateVersion(), 3);
    });

    test('a recreated record never gets an old generation, not even after the store was opened again', async () => {
      await commit(put(target('a'), 'absent'));
      await commit(remove(target('a'), 1));
      assert.equal(await store.get(target('a')), null);
      await reopen();
      const again = await commit(put(target('a'), 'absent'));
      assert.deepEqual(again, { kind: 'committed', stateVersion: 3, generations: [3] });
    });

    test('the engine’s progress has versions of its own and spoils no precondition', async () => {
      await commit(put(target('a'), 'absent'));
      for (const n of [1, 2, 3]) await commit(put(transaction('t'), 'any', n));
      assert.equal((await store.get(transaction('t')))?.generation, 3);
      assert.equal(await store.stateVersion(), 1);
      const both = await commit(put(target('a'), 1), put(transaction('t'), 3));
      assert.deepEqual(both, { kind: 'committed', stateVersion: 2, generations: [2, 4] });
    });

    test('a batch is whole or nothing, and its first conflict is named', async () => {
      await commit(put(target('a'), 'absent'), put(target('b'), 'absent'));
      const result = await store.commit({
        mutations: [put(target('c'), 'absent'), put(target('b'), 7), remove(target('a'), 9)],
        history: [draft('c')],
      });
      assert.deepEqual(result, { kind: 'conflict', key: target('b'), actual: 1 });
      assert.equal(await store.get(target('c')), null);
      assert.equal(await store.stateVersion(), 1);
      assert.deepEqual(await store.history(), []);
    });

    test('F24: of many who saw the same generation one wins', async () => {
      await commit(put(target('a'), 'absent'));
      const attempts = Array.from({ length: 50 }, (_, n) => commit(put(target('a'), 1, n)));
      const results = await Promise.all(attempts);
      const winners = results.flatMap((result, n) => (result.kind === 'committed' ? [n] : []));
      assert.equal(winners.length, 1);
      assert.deepEqual((await store.get(target('a')))?.value, value(target('a'), winners[0]));
    });

    test('operations take effect in the order in which they were asked for', async () => {
      const answers = await Promise.all([
        commit(put(target('a'), 'absent', 1)),
        store.get(target('a')),
        commit(put(target('a'), 1, 2)),
        commit(put(target('a'), 2, 3)),
        store.get(target('a')),
      ]);
      assert.deepEqual([answers[1]?.value, answers[4]?.value], [value(target('a'), 1), value(target('a'), 3)]);
    });

    test('a list is in id order, narrowed, continued and limited', async () => {
      const ids = ['b/2', 'a', 'b/10', 'b', 'c', 'B', 'b~'];
      for (const id of ids) await commit(put(target(id), 'absent'));
      await commit(put(transaction('b'), 'absent'));
      const listed = async (options?: Parameters<RecordStore['list']>[2]): Promise<string[]> =>
        (await store.list('catalogue', 'target', options)).map((record) => record.key.id);
      assert.deepEqual(await listed(), ['B', 'a', 'b', 'b/10', 'b/2', 'b~', 'c']);
      assert.deepEqual(await listed({ prefix: 'b' }), ['b', 'b/10', 'b/2', 'b~']);
      assert.deepEqual(await listed({ prefix: 'b', after: 'b/10', limit: 1 }), ['b/2']);
      assert.deepEqual(await listed({ prefix: 'nothing' }), []);
    });

    test('history is appended with its batch, and chains by digest', async () => {
      await store.commit({ mutations: [put(target('a'), 'absent')], history: [draft('a', { step: 1 }), draft('b')] });
      await store.commit({ mutations: [], history: [draft('a', ['x'])] });
      assert.equal(await store.stateVersion(), 1);
      const entries = await store.history();
      assert.deepEqual(
        entries.map(({ sequence, subject, body }) => [sequence, subject, body]),
        [
          [1, 'a', { step: 1 }],
          [2, 'b', null],
          [3, 'a', ['x']],
        ],
      );
      let previous = `sha256:${'0'.repeat(64)}`;
      for (const { digest, ...rest } of entries) {
        assert.equal(rest.previous, previous);
        assert.equal(digest, digestJson(rest));
        previous = digest;
      }
    });

    test('history is read by subject, in either direction, page by page', async () => {
      for (const subject of ['a', 'b', 'a', 'b', 'a']) await store.commit({ mutations: [], history: [draft(subject)] });
      const read = async (options: Parameters<RecordStore['history']>[0]): Promise<number[]> =>
        (await store.history(options)).map((entry) => entry.sequence);
      assert.deepEqual(await read({ subject: 'a' }), [1, 3, 5]);
      assert.deepEqual(await read({ subject: 'a', after: 1, limit: 1 }), [3]);
      assert.deepEqual(await read({ newestFirst: true, limit: 2 }), [5, 4]);
      assert.deepEqual(await read({ newestFirst: true, after: 4 }), [3, 2, 1]);
      assert.deepEqual(await read({ subject: 'b', newestFirst: true, after: 4 }), [2]);
      assert.deepEqual(await read({ subject: 'c' }), []);
    });

    test('I6: what was committed is there when the store is opened again', async () => {
      await store.commit({ mutations: [put(target('a'), 'absent', 1)], history: [draft('a')] });
      const before = [await store.get(target('a')), await store.history()];
      await reopen();
      assert.deepEqual([await store.get(target('a')), await store.history()], before);
      const next = await store.commit({ mutations: [put(target('b'), 'absent')], history: [draft('b')] });
      assert.deepEqual(next, { kind: 'committed', stateVersion: 2, generations: [2] });
      const [first, second] = await store.history();
      assert.equal(second?.previous, first?.digest);
    });

    test('what was handed out is a copy', async () => {
      const mine = { ...value(target('a'), 1) };
      const committing = store.commit({ mutations: [{ key: target('a'), expect: 'absent', next: mine }] });
      Object.assign(mine, { n: 2 });
      await committing;
      Object.assign((await store.get(target('a')))?.value ?? {}, { n: 3 });
      assert.deepEqual((await store.get(target('a')))?.value, value(target('a'), 1));
    });

    test('F28: a value that could not be read back is never written, nor is the rest of its batch', async () => {
      const wrong: readonly [RecordValue, StoreFault['code']][] = [
        [{ schema: 'idunn.target/v2', n: 1 }, 'store-version-unknown'],
        [{ schema: 'idunn.target/v1', n: 'one' }, 'store-unreadable'],
        [{ schema: 'idunn.target/v1', n: 1, command: 'rm' }, 'store-unreadable'],
      ];
      for (const [next, code] of wrong) {
        await assert.rejects(
          commit(put(target('a'), 'absent'), { key: target('b'), expect: 'absent', next }),
          faultWith(code),
        );
      }
      assert.deepEqual(await store.list('catalogue', 'target'), []);
      assert.equal(await store.stateVersion(), 0);
    });

    test('F28: a record of an unknown version is a fault at that step, and stays as it is', async () => {
      const next = { schema: 'idunn.transaction/v2', n: 1 };
      await commit({ key: transaction('t'), expect: 'absent', next });
      await commit(put(target('a'), 'absent'));
      const old = { ...CONTRACT_KINDS[1], versions: { 'idunn.transaction/v1': shapeOf('idunn.transaction/v1') } };
      await reopen([CONTRACT_KINDS[0], old]);
      await assert.rejects(store.get(transaction('t')), faultWith('store-version-unknown'));
      await assert.rejects(store.list('journal', 'transaction'), faultWith('store-version-unknown'));
      assert.equal((await store.get(target('a')))?.generation, 1);
      await reopen();
      assert.deepEqual((await store.get(transaction('t')))?.value, next);
    });

    test('what is outside the limits is the caller’s fault, and changes nothing', async () => {
      for (const id of ['', 'a b', 'ä', 'x'.repeat(513)]) {
        await assert.rejects(commit(put(target(id), 'absent')), TypeError);
      }
      await assert.rejects(commit(put({ ...target('a'), kind: 'unheard-of' }, 'absent')), TypeError);
      await assert.rejects(commit(put({ ...target('a'), space: 'journal' }, 'absent')), TypeError);
      await assert.rejects(commit(put(target('a'), 'absent'), put(target('a'), 'any')), TypeError);
      await assert.rejects(commit(...Array.from({ length: 1_001 }, (_, n) => put(target(`t${n}`), 'any'))), TypeError);
      await assert.rejects(store.list('catalogue', 'target', { limit: 10_001 }), TypeError);
      await assert.rejects(store.history({ limit: 0 }), TypeError);
      assert.equal(await store.stateVersion(), 0);
    });

    test('a closed store answers nothing', async () => {
      await store.close();
      await assert.rejects(store.get(target('a')), StoreFault);
      await assert.rejects(commit(put(target('a'), 'absent')), StoreFault);
      store = await harness.open(CONTRACT_KINDS);
    });
  });
}
