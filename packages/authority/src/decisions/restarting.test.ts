import assert from 'node:assert/strict';
import { test } from 'node:test';
import { absent } from '@idunn/kernel';
import { evidence, laterBy, TARGET, transaction } from '../testing/samples.ts';
import { PLAN_DEADLINE_MS } from './deadline.ts';
import { decide } from './decide.ts';
import type { DeployEvidence } from './evidence.ts';

const restart = transaction({ phase: 'planned' }, { request: { kind: 'restart' } });
const step = (more: Partial<DeployEvidence>) => decide(restart, evidence({ hold: absent, ...more }));
const target = { ...TARGET, takenBy: 'tx-0', restart: 'tx-0' };

test('F2: an operator’s restart waits for the one at work until its deadline, and nobody behind it for ever', () => {
  const waiting = step({ target });
  assert.ok(waiting.kind === 'wait' && waiting.what.startsWith('tx-0, '));
  assert.equal(waiting.untilMs, restart.clock.startedAt.monotonicMs + PLAN_DEADLINE_MS);
  const late = step({ target, now: laterBy(PLAN_DEADLINE_MS) });
  assert.ok(late.kind === 'persist' && late.leaves === 'end');
  assert.deepEqual([late.result?.outcome, late.result?.refusal?.code], ['rejected', 'phase-deadline']);
  assert.match(late.result?.refusal?.reason ?? '', /^tx-0 /);
  const free = step({ now: laterBy(PLAN_DEADLINE_MS) });
  assert.ok(free.kind === 'persist' && free.state.phase === 'activation-issued', 'a target that is free is no wait');
});
