import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { Outcome } from '@idunn/kernel';
import type { StateContract } from '@idunn/release';
import type { LeasePort, LeaseRow, LeaseRows, OwnerClaim, SwapRequest } from '../ports/lease-port.ts';

/** A lease and a state root in which nothing was prepared yet. */
export interface LeaseHarness {
  readonly lease: LeasePort;
  readonly state: StateContract;
}

const nobody = { epoch: 0, activation: null };
const move = (from: SwapRequest['from'], activation: string | null, epoch = from.epoch + 1): SwapRequest => ({
  from,
  to: { epoch, activation, release: null, stateSchema: 'v1' },
  deadlineMs: 20_000,
});

/** What every keeper of lease rows answers, wherever it keeps them. */
export function leasePortContract(name: string, make: (t: TestContext) => LeaseHarness): void {
  describe(`lease port: ${name}`, () => {
    test('before anything was prepared rows and claim are absent; afterwards the rows name nobody', async (t) => {
      const { lease, state } = make(t);
      assert.deepEqual(await lease.read(state), { kind: 'absent' });
      assert.deepEqual(await lease.readClaim(state), { kind: 'absent' });
      const rows = must(await lease.prepare(state));
      assert.ok(Object.keys(rows).length > 0);
      for (const row of Object.values(rows)) {
        const { stateId } = state;
        assert.deepEqual(row, { stateId, ...nobody, release: null, stateSchema: 'v1', nonce: null });
      }
      assert.deepEqual(must(await lease.prepare(state)), rows);
      assert.deepEqual(await lease.read(state), { kind: 'seen', value: rows });
    });

    test('I6: a repeated swap is swapped; from another row it differs, and nothing is written', async (t) => {
      const { lease, state } = await prepared(make(t));
      assert.deepEqual(await lease.swap(state, move(nobody, 'act-a')), { kind: 'swapped' });
      assert.deepEqual(await lease.swap(state, move(nobody, 'act-a')), { kind: 'swapped' });
      const before = await rowsOf(lease, state);
      const differs = await lease.swap(state, move(nobody, 'act-b'));
      assert.ok(differs.kind === 'differs');
      assert.deepEqual(differs.rows, before);
      assert.deepEqual(await rowsOf(lease, state), before);
      assert.ok(Object.values(before).every(({ epoch, activation }) => epoch === 1 && activation === 'act-a'));
    });

    test('I1: of swaps that begin at one row one is made, and every row names its holder', async (t) => {
      const { lease, state } = await prepared(make(t));
      const names = ['act-a', 'act-b', 'act-c', 'act-d'];
      const answers = await Promise.all(names.map((name) => lease.swap(state, move(nobody, name, 1))));
      const winners = names.filter((_, index) => answers[index]?.kind === 'swapped');
      assert.equal(winners.length, 1);
      assert.deepEqual([...new Set(Object.values(await rowsOf(lease, state)).map(holder))], winners);
    });

    test('a row may name nobody in between, and its epoch only rises', async (t) => {
      const { lease, state } = await prepared(make(t));
      await lease.swap(state, move(nobody, 'act-a', 7));
      assert.deepEqual(await lease.swap(state, move({ epoch: 7, activation: 'act-a' }, null)), { kind: 'swapped' });
      assert.deepEqual(await lease.swap(state, move({ epoch: 8, activation: null }, 'act-b')), { kind: 'swapped' });
      const rows = Object.values(await rowsOf(lease, state));
      assert.ok(rows.every(({ epoch, activation }) => epoch === 9 && activation === 'act-b'));
    });

    test('a nonce lies beside the row, which stays as it is', async (t) => {
      const { lease, state } = await prepared(make(t));
      await lease.swap(state, move(nobody, 'act-a'));
      const before = await rowsOf(lease, state);
      for (const nonce of ['n1', 'n2']) {
        must(await lease.writeNonce(state, nonce));
        const withNonce = Object.entries(before).map(([store, row]) => [store, { ...row, nonce }]);
        assert.deepEqual(await rowsOf(lease, state), Object.fromEntries(withNonce));
      }
      assert.deepEqual(await lease.sync(state), { ok: true, value: 'durable' });
    });

    test('F20: the claim is replaced whole, and preparing again begins nothing anew', async (t) => {
      const { lease, state } = await prepared(make(t));
      const { stateId } = state;
      const claim: OwnerClaim = {
        schema: 'idunn.owner-claim/v1',
        fleet: 'f',
        target: 'game',
        stateId,
        highestEpoch: 1,
      };
      assert.deepEqual(await lease.writeClaim(state, claim, null), { ok: true, value: 'written' });
      assert.deepEqual(await lease.writeClaim(state, { ...claim, highestEpoch: 2 }, claim), {
        ok: true,
        value: 'written',
      });
      assert.deepEqual(await lease.readClaim(state), { kind: 'seen', value: { ...claim, highestEpoch: 2 } });
      await lease.swap(state, move(nobody, 'act-a'));
      assert.deepEqual(must(await lease.prepare(state)), await rowsOf(lease, state));
    });

    test('I1: of fleets that claim a state at once one owns it; taken over is exactly what was read', async (t) => {
      const { lease, state } = await prepared(make(t));
      const claimBy = (fleet: string, highestEpoch: number): OwnerClaim => {
        return { schema: 'idunn.owner-claim/v1', fleet, target: 'game', stateId: state.stateId, highestEpoch };
      };
      const fleets = ['f', 'g', 'h'];
      const answers = await Promise.all(fleets.map((fleet) => lease.writeClaim(state, claimBy(fleet, 1), null)));
      assert.deepEqual(answers.map((answer) => (answer.ok ? 'written' : answer.refusal.code)).toSorted(), [
        'foreign-claim',
        'foreign-claim',
        'written',
      ]);
      const owner = fleets[answers.findIndex(({ ok }) => ok)] ?? '';
      assert.deepEqual(await lease.readClaim(state), { kind: 'seen', value: claimBy(owner, 1) });
      must(await lease.writeClaim(state, claimBy(owner, 2), null));
      const late = await lease.writeClaim(state, claimBy('i', 3), claimBy(owner, 1));
      assert.equal(late.ok ? 'written' : late.refusal.code, 'foreign-claim');
      assert.match(late.ok ? '' : late.refusal.reason, new RegExp(`${owner}/game`));
      must(await lease.writeClaim(state, claimBy('i', 3), claimBy(owner, 2)));
      assert.deepEqual(await lease.readClaim(state), { kind: 'seen', value: claimBy('i', 3) });
    });
  });
}

async function prepared(harness: LeaseHarness): Promise<LeaseHarness> {
  must(await harness.lease.prepare(harness.state));
  return harness;
}

async function rowsOf(lease: LeasePort, state: StateContract): Promise<LeaseRows> {
  const rows = await lease.read(state);
  if (rows.kind !== 'seen') throw new Error(`the rows are ${rows.kind}`);
  return rows.value;
}

const holder = ({ activation }: LeaseRow): string | null => activation;

function must<T>(outcome: Outcome<T>): T {
  if (!outcome.ok) throw new Error(`${outcome.refusal.code}: ${outcome.refusal.reason}`);
  return outcome.value;
}
