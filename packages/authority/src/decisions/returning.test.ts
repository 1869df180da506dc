import assert from 'node:assert/strict';
import { test } from 'node:test';
import { absent, seen } from '@idunn/kernel';
import { alive, CANDIDATE, evidence, HANDOVER, laterBy, launchOf, OLD, rows, transaction } from '../testing/samples.ts';
import { decide } from './decide.ts';

test('I10: on the way back, launches that were ended for lying are not told to have exited', () => {
  const launch = { ...launchOf(OLD, 'act-again', 13), step: 'observed' as const };
  const record = transaction({
    phase: 'returning',
    why: { code: 'candidate-failed', reason: 'It failed.', remedy: 'Look.' },
    candidate: { ...HANDOVER.passage.successor, spent: [] },
    passage: {
      ...HANDOVER.passage,
      direction: 'back',
      successor: { subject: OLD.subject, launch },
      spent: ['act-old'],
      relaunches: 3,
      predecessors: [],
      move: { from: { epoch: 5, activation: 'act-new' }, to: { epoch: 6, activation: 'act-old' } },
      origin: null,
    },
    settled: false,
    gone: true,
    stuck: null,
  });
  const slots = { 'act-again': alive(launch), 'act-new': alive(CANDIDATE, { found: absent, process: absent }) };
  const decision = decide(record, evidence({ now: laterBy(60_000), rows: seen(rows(5, 'act-new')), slots }));
  assert.ok(decision.kind === 'persist' && decision.state.phase === 'returning');
  assert.equal(decision.result?.outcome, 'operator-required');
  assert.equal(decision.state.stuck?.code, 'phase-deadline');
  assert.match(decision.state.stuck?.reason ?? '', /was launched 4 times and never lasted/);
});
