import assert from 'node:assert/strict';
import { test } from 'node:test';
import { absent, seen, unknown } from '@idunn/kernel';
import {
  alive,
  CANDIDATE,
  evidence,
  INCUMBENT,
  laterBy,
  NEW,
  NOW,
  OLD,
  transaction,
  word,
} from '../testing/samples.ts';
import { decide } from './decide.ts';
import type { Decision } from './decision.ts';
import { decideDisclosure, type Standing, VERDICT_LIMIT_MS, verdictOf, verdictUntilMs } from './disclosure.ts';

const disagreement = { code: 'executable-mismatch', detail: 'another' } as const;

test('I4, I5: only a word about the activation at hand, with a presence beside it, is a verdict', () => {
  assert.deepEqual(verdictOf(seen(word(OLD, 'act-old')), 'act-old'), seen('agreed'));
  const disagrees = word(OLD, 'act-old', { disagreements: [disagreement] });
  assert.deepEqual(verdictOf(seen(disagrees), 'act-old'), seen('disagreed'));
  for (const none of [
    unknown('the link is down'),
    absent,
    seen(word(OLD, 'act-older')),
    seen(word(OLD, 'act-old', { present: null, disagreements: [disagreement] })),
  ]) {
    assert.equal(verdictOf(none, 'act-old').kind, 'unknown');
  }
});

test('I10: a verdict is waited for as long as a presence stands, and then it is missing, not given', () => {
  assert.equal(verdictUntilMs(1_000, { freshnessMs: 5_000 }), 6_000);
  assert.equal(verdictUntilMs(1_000, { freshnessMs: 3_600_000 }), 1_000 + VERDICT_LIMIT_MS);
  const silent: Standing = {
    incarnation: OLD.subject.incarnation,
    activation: 'act-old',
    verdict: unknown('not heard'),
    untilMs: 6_000,
  };
  const judged: Standing = { ...silent, activation: 'act-other', verdict: seen('disagreed') };
  assert.deepEqual(decideDisclosure(5_999, [silent, judged]), { awaited: [silent], missing: [] });
  assert.deepEqual(decideDisclosure(6_000, [silent, judged]), { awaited: [], missing: [silent] });
});

const standing: Standing = {
  incarnation: INCUMBENT.incarnation,
  activation: 'act-old',
  verdict: unknown('the observer has not heard it yet'),
  untilMs: NOW.monotonicMs + 5_000,
};
const inWords = (decision: Decision): string =>
  decision.kind === 'wait' ? decision.what : decision.kind === 'persist' ? decision.state.phase : decision.effect.kind;

test('I4: an observer that is back is waited for before Expected is published, and before anything is fenced', () => {
  const launch = CANDIDATE;
  const doors = [
    [transaction({ phase: 'sealed', plan: NEW.subject.plan, subject: NEW.subject }), 'expected-published'],
    [transaction({ phase: 'warming', subject: NEW.subject, launch }), 'stage-route'],
  ] as const;
  for (const [tx, next] of doors) {
    const awaited = decide(tx, evidence({ standing: [standing] }));
    assert.match(inWords(awaited), /^the observer, which is to judge app@.* anew$/);
    assert.ok(awaited.kind === 'wait' && awaited.wakeAtMs !== null);
    assert.equal(inWords(decide(tx, evidence())), next);
    assert.equal(inWords(decide(tx, evidence({ standing: [{ ...standing, verdict: seen('disagreed') }] }))), next);
  }
  const sealed = doors[0][0];
  const late = evidence({ standing: [standing], now: laterBy(5_000) });
  assert.equal(inWords(decide(sealed, late)), 'expected-published', 'what never comes holds nothing up for ever');
  const gone = { 'act-old': alive(CANDIDATE, { process: absent }) };
  assert.equal(inWords(decide(sealed, evidence({ standing: [standing], slots: gone }))), 'expected-published');
});
