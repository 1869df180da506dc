import assert from 'node:assert/strict';
import { test } from 'node:test';
import { persist } from '../decisions/decision.ts';
import { laterBy, NOW, TARGET, transaction } from '../testing/samples.ts';
import { applyPersist } from './apply.ts';

const planned = transaction({ phase: 'planned' });

test('a phase that is entered ends the one before it, with the time that it took', () => {
  const entered = { ...persist({ phase: 'planned' }), entered: [{ phase: 'materialized' as const }] };
  const { tx, history } = applyPersist(planned, TARGET, entered, laterBy(40));
  assert.deepEqual(
    tx.log.map(({ phase, tookMs }) => [phase, tookMs]),
    [
      ['planned', 40],
      ['materialized', null],
    ],
  );
  assert.deepEqual(
    history.map(({ kind }) => kind),
    ['transaction.phase'],
  );
});

test('I8: a thaw gives the clock its time back, and the pause is nobody’s share', () => {
  const frozen = { ...planned, clock: { startedAt: NOW, frozenSince: laterBy(10), pausedMs: 5 } };
  const { tx } = applyPersist(frozen, TARGET, persist(frozen.state, { clock: 'thaw' }), laterBy(110));
  assert.deepEqual(tx.clock, { startedAt: NOW, frozenSince: null, pausedMs: 105 });
  assert.equal(tx.foreignMs, 100);
});

test('own time is what is left of the duration without what was not ours', () => {
  const result = { outcome: 'aborted' as const, incarnation: null, revision: null, refusal: null };
  const { tx, target } = applyPersist(
    planned,
    TARGET,
    persist(planned.state, { foreignMs: 300, result, leaves: 'end' }),
    laterBy(450),
  );
  assert.equal(tx.result?.durationMs, 450);
  assert.equal(tx.result?.ownMs, 150);
  assert.equal(tx.ended, true);
  assert.deepEqual(target.queue, []);
});

test('F29: over a reboot a span is unknown and counts for nothing', () => {
  const result = { outcome: 'aborted' as const, incarnation: null, revision: null, refusal: null };
  const after = { ...laterBy(-40_000), bootId: 'boot-2' };
  assert.equal(applyPersist(planned, TARGET, persist(planned.state, { result }), after).tx.result?.durationMs, 0);
});

test('F10: an admitted transaction leaves the queue and drains beside the next', () => {
  const { target } = applyPersist(planned, TARGET, persist(planned.state, { leaves: 'detach' }), NOW);
  assert.deepEqual([target.queue, target.draining], [[], ['tx-1']]);
});
