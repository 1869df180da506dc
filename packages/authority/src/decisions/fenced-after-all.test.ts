import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seen, unknown } from '@idunn/kernel';
import type { TransactionRecord } from '../records/transaction.ts';
import { CANDIDATE, evidence, INCUMBENT, NEW, OLD, rows, TARGET, transaction } from '../testing/samples.ts';
import { decide } from './decide.ts';
import type { DeployEvidence } from './evidence.ts';
import { because } from './failing.ts';

const why = because('wrote-before-lease', 'The row names act-new, which nobody granted.');
const aborting = (gone: boolean, more: Partial<TransactionRecord> = {}): TransactionRecord =>
  transaction(
    { phase: 'aborting', outcome: 'aborted', why, subject: NEW.subject, launch: CANDIDATE, gone, withdraw: null },
    more,
  );
const named = { rows: seen(rows(7, 'act-new')) };
const step = (e: Partial<DeployEvidence>, tx = aborting(true)) => decide(tx, evidence({ ...named, ...e }));

test('I1, I9: a lease that nobody granted its holder goes back once that is gone, under the next epoch', () => {
  const ending = step({}, aborting(false));
  assert.equal(ending.kind === 'act' ? ending.effect.kind : ending.kind, 'end-process');
  const decision = step({});
  assert.ok(decision.kind === 'persist' && decision.state.phase === 'returning', decision.kind);
  const { passage, candidate } = decision.state;
  assert.equal(candidate.launch.id, 'act-new');
  assert.equal(passage?.successor.launch.id, INCUMBENT.document.activation);
  assert.deepEqual(passage?.move, {
    from: { epoch: 7, activation: 'act-new' },
    to: { epoch: 8, activation: 'act-old' },
  });
  assert.deepEqual(decision.target, { takenBy: 'tx-1', highestEpoch: 8 });
  assert.equal(decision.state.why.code, 'wrote-before-lease');
});

const elsewhere = {
  ...NEW.plan,
  state: NEW.plan.state === null ? null : { ...NEW.plan.state, lease: 'file' as const },
};
const APART = { [OLD.subject.plan]: OLD.plan, [NEW.subject.plan]: elsewhere };

test('I5, I9: the way back to rows of another place is granted above the row that is left there', () => {
  const decision = step({ plans: APART });
  assert.ok(decision.kind === 'persist' && decision.state.phase === 'returning', decision.kind);
  assert.deepEqual(decision.state.passage?.move, {
    from: { epoch: INCUMBENT.epoch, activation: 'act-old' },
    to: { epoch: 8, activation: 'act-old' },
  });
});

test('I7: a row that the lease has left since for another place takes nothing from who holds it there', () => {
  const { admitted } = TARGET;
  const since = { ...TARGET, admitted: admitted === null ? null : { ...admitted, epoch: 8 } };
  const decision = step({ plans: APART, target: since });
  assert.equal(decision.kind === 'act' ? decision.effect.kind : decision.kind, 'demote');
  const own = step({ target: since });
  assert.equal(own.kind === 'persist' && own.state.phase, 'returning', 'in its own place it would be refused');
});

test('F16: where there was nobody before, the row is to name nobody', () => {
  const decision = step({ target: { ...TARGET, admitted: null } });
  assert.ok(decision.kind === 'persist' && decision.state.phase === 'returning');
  assert.equal(decision.state.passage, null);
});

test('I10: nothing goes back where the row names another, or cannot be read; nor to whom its schema bars', () => {
  for (const read of [seen(rows(4, 'act-old')), unknown('the disk is busy')]) {
    const decision = step({ rows: read });
    assert.equal(decision.kind === 'act' ? decision.effect.kind : decision.kind, 'demote');
  }
  const newer = { ...NEW.plan, state: NEW.plan.state === null ? null : { ...NEW.plan.state, schema: 'events-v2' } };
  const barred = step({ plans: { [OLD.subject.plan]: OLD.plan, [NEW.subject.plan]: newer } });
  assert.equal(barred.kind === 'act' ? barred.effect.kind : barred.kind, 'demote');
  const restart = step({}, aborting(true, { request: { kind: 'continuity', cause: 'died' } }));
  assert.equal(restart.kind === 'act' ? restart.effect.kind : restart.kind, 'demote', 'continuity launches anew');
});

test('I1: whoever has the target ends first', () => {
  for (const taken of [{ takenBy: 'tx-9' }, { restart: 'tx-9', takenBy: 'tx-9' }, { restart: 'tx-9' }]) {
    const decision = step({ target: { ...TARGET, ...taken } });
    assert.match(decision.kind === 'wait' ? decision.what : decision.kind, /^tx-9, /);
  }
});
