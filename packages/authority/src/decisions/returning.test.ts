import assert from 'node:assert/strict';
import { test } from 'node:test';
import { absent, type Outcome, ok, refusal, refused, seen, unknown } from '@idunn/kernel';
import {
  alive,
  answered,
  CANDIDATE,
  evidence,
  HANDOVER,
  INCUMBENT,
  laterBy,
  launchOf,
  NEW,
  NOW,
  OLD,
  routeTo,
  rows,
  TARGET,
  transaction,
  word,
} from '../testing/samples.ts';
import { decide } from './decide.ts';
import { type Effect, effectKey } from './effects.ts';
import type { DeployEvidence } from './evidence.ts';

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

/** What is seen of a first deployment that was granted and failed: its process is gone, an empty route is staged. */
const TO_NOBODY = {
  phase: 'returning',
  why: { code: 'candidate-failed', reason: 'It failed.', remedy: 'Look.' },
  candidate: { ...HANDOVER.passage.successor, spent: ['act-spent'] },
  passage: null,
  settled: false,
  gone: true,
  stuck: null,
} as const;
const first = transaction(TO_NOBODY);
const ended: Effect = { kind: 'end-process', activation: 'act-new', handle: CANDIDATE.handle, graceMs: 100 };
const emptied: Effect = { kind: 'stage-route', plan: NEW.subject.plan, members: [] };
const goneAway = [ended, { kind: 'gone', proof: 'tree-empty', forced: false }] as const;
const answers = answered(goneAway, [emptied, { stage: 'empty', generation: 2 }]);
const routedTo = (activation: string): DeployEvidence['route'] => seen(routeTo(activation, 1));
const step = (more: Partial<DeployEvidence>, record = first) => decide(record, evidence({ answers, ...more }));

test('I3: what was published on the way forward and is still on its way finds its stage gone', () => {
  const revoked = { rows: seen(rows(6, null)), route: absent };
  const replaced = step({ ...revoked, answers: answered(goneAway) });
  assert.deepEqual(replaced.kind === 'act' && replaced.effect, emptied, 'whatever the route names');
  const landed = step({ ...revoked, route: routedTo('act-new') });
  assert.equal(landed.kind === 'act' && landed.effect.kind, 'publish-route');
  const others = step({ ...revoked, route: routedTo('act-other') });
  assert.ok(others.kind === 'persist' && others.state.phase === 'returning' && others.state.settled);

  const back = transaction({
    ...TO_NOBODY,
    candidate: { ...HANDOVER.passage.successor, spent: [] },
    passage: {
      ...HANDOVER.passage,
      direction: 'back',
      successor: { subject: OLD.subject, launch: { ...launchOf(OLD, 'act-old', 11), step: 'current' } },
      predecessors: [],
      move: { from: { epoch: 5, activation: 'act-new' }, to: { epoch: 6, activation: 'act-old' } },
    },
  });
  const open: Effect = { kind: 'open-channel', handle: INCUMBENT.handle };
  const stateId = OLD.plan.state?.stateId ?? '';
  const granted: Effect = { kind: 'grant', grant: { activation: 'act-old', stateId, epoch: 6 } };
  const present = { state: 'active' as const, epoch: 6, sequence: 2, observedAtMs: 0, fresh: true };
  const active = word(OLD, 'act-old', { present });
  const again = step(
    {
      answers: answered([open, 'open'], [granted, 'delivered']),
      rows: seen(rows(6, 'act-old')),
      route: routedTo('act-old'),
      slots: { 'act-old': alive(launchOf(OLD, 'act-old', 11), { word: seen(active) }) },
    },
    back,
  );
  assert.equal(again.kind === 'act' && again.effect.kind, 'stage-route', 'though the route names it');
});

test('F8, I9: with nobody to return to, an empty route whose stage is gone, or that never came, is staged anew', () => {
  const landed = { rows: seen(rows(6, null)), route: routedTo('act-new') };
  const publication: Effect = { kind: 'publish-route', staged: { stage: 'empty', generation: 2 } };
  const gone = refused(refusal('route-stage-unknown', 'There is no empty.'));
  const kind = (outcome: Outcome<unknown>, now = laterBy(1_000)): string => {
    const answer = { effect: publication, outcome, atMs: NOW.monotonicMs + 5, attempts: 1 };
    const decision = step({ ...landed, now, answers: { ...answers, [effectKey(publication)]: answer } });
    return decision.kind === 'act' ? decision.effect.kind : decision.kind;
  };
  assert.equal(kind(gone), 'stage-route');
  assert.equal(kind(ok('published')), 'stage-route', 'it is said to be served, and the route was read since');
  assert.equal(kind(gone, laterBy(10)), 'wait');
  const invalid = { effect: emptied, outcome: refused(refusal('router-protocol-differs', 'no')), atMs: 0, attempts: 1 };
  const asked = step({ ...landed, answers: { ...answered(goneAway), [effectKey(emptied)]: invalid } });
  assert.deepEqual(asked.kind === 'act' && asked.effect, emptied, 'what was refused for good is asked again');
});

test('I10: with nobody to return to, a route that cannot be read is not taken for one that names nobody', () => {
  const revoked = { rows: seen(rows(6, null)) };
  assert.equal(step({ ...revoked, route: unknown('the router does not answer') }).kind, 'wait');
  const settled = step({ ...revoked, route: absent });
  assert.ok(settled.kind === 'persist' && settled.state.phase === 'returning' && settled.state.settled);
  // F1: a program that deleted its whole state before it failed holds its target up no more than any other.
  const deleted = step({ rows: absent, route: absent });
  assert.ok(deleted.kind === 'persist' && deleted.state.phase === 'returning' && deleted.state.settled);
  const lost = step({ rows: unknown('the store lease is missing'), route: absent });
  assert.equal(
    lost.kind === 'wait' ? lost.what : lost.kind,
    `the lease row in ${OLD.plan.state?.root}: the store lease is missing`,
  );
});

test('I1: with nobody to return to, the lease of somebody whom this deployment never launched is not taken', () => {
  const held = (activation: string, holder: DeployEvidence['holder'], record = first) =>
    step({ rows: seen(rows(7, activation)), route: absent, holder }, record);
  const unissued = { issued: false, found: absent } as const;
  const told = held('act-other', unissued);
  assert.ok(told.kind === 'persist' && told.state.phase === 'returning' && told.state.stuck !== null);
  assert.deepEqual([told.result?.outcome, told.result?.refusal?.code], ['operator-required', 'lease-row-unexpected']);
  const behind = { ...first, state: told.state };
  const waiting = held('act-other', unissued, behind);
  assert.equal(waiting.kind === 'wait' && waiting.incident, 'lease-row-unexpected');
  assert.equal(held('act-other', { issued: true, found: unknown('not read') }).kind, 'persist');
  const target = { ...TARGET, queue: ['tx-1', 'tx-2'] };
  const next = step({ rows: seen(rows(7, 'act-other')), route: absent, target }, behind);
  assert.ok(next.kind === 'persist' && next.state.phase === 'returning' && next.state.settled);
  for (const ours of ['act-new', 'act-spent']) {
    const taken = held(ours, unissued);
    assert.ok(taken.kind === 'act' && taken.effect.kind === 'swap' && taken.effect.move.to.activation === null, ours);
  }
  const earlier = held('act-other', { issued: true, found: absent });
  assert.ok(earlier.kind === 'act' && earlier.effect.kind === 'swap');
});

test('I9: with nobody to return to, a row that is not moved by the deadline is told, and the next goes on', () => {
  const granted = { rows: seen(rows(5, 'act-new')), route: absent };
  const asked = step(granted);
  assert.ok(asked.kind === 'act' && asked.effect.kind === 'swap');
  const busy = (now: DeployEvidence['now']) => {
    const answer = { effect: asked.effect, outcome: ok({ kind: 'busy', store: 'journal' }), attempts: 20 };
    return { ...answers, [effectKey(asked.effect)]: { ...answer, atMs: now.monotonicMs } };
  };
  const early = step({ ...granted, answers: busy(NOW) });
  assert.ok(early.kind === 'wait' && early.untilMs !== null && early.untilMs > NOW.monotonicMs);
  assert.match(early.what, /name nobody: somebody holds the database of store journal/);
  const now = { ...NOW, monotonicMs: early.untilMs };
  const late = { ...granted, now, answers: busy(now) };
  const told = step(late);
  assert.ok(told.kind === 'persist' && told.state.phase === 'returning' && told.state.stuck !== null);
  assert.deepEqual([told.result?.outcome, told.result?.refusal?.code], ['operator-required', 'phase-deadline']);
  const behind = { ...first, state: told.state };
  assert.equal(step(late, behind).kind, 'wait', 'it is tried on');
  const target = { ...TARGET, queue: ['tx-1', 'tx-2'] };
  const next = step({ ...late, target }, behind);
  assert.ok(next.kind === 'persist' && next.state.phase === 'returning' && next.state.settled);
});
