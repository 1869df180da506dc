import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Code, refusal, seen } from '@idunn/kernel';
import {
  alive,
  answered,
  CANDIDATE,
  evidence,
  HANDOVER,
  laterBy,
  launchOf,
  NEW,
  NOW,
  OLD,
  routeTo,
  rows,
  transaction,
  word,
} from '../testing/samples.ts';
import { decide } from './decide.ts';
import { type Effect, effectKey } from './effects.ts';
import type { DeployEvidence } from './evidence.ts';

const record = transaction(HANDOVER);
const open: Effect = { kind: 'open-channel', handle: CANDIDATE.handle };
const grant: Effect = { kind: 'grant', grant: { activation: 'act-new', stateId: 'app-state', epoch: 5 } };
const backend = { host: '127.0.0.1', port: 20_012 };
const members = [{ incarnation: NEW.subject.incarnation, activation: 'act-new', backend }];
const stage: Effect = { kind: 'stage-route', plan: NEW.subject.plan, members };
const staged = { stage: 'stage-1', generation: 2 };
const publish: Effect = { kind: 'publish-route', staged };
const observe: Effect = { kind: 'observe-route', route: 'app', path: '/version' };

const present = { state: 'active' as const, epoch: 5, sequence: 4, observedAtMs: 0, fresh: true };
const ready = { receipt: 'sha256:r', activation: 'act-new', epoch: 5, sequence: 4, observedAtMs: 0 };
const slots = { 'act-new': alive(CANDIDATE, { word: seen(word(NEW, 'act-new', { present, ready })) }) };
const later = laterBy(1_000);

const step = (answers: DeployEvidence['answers'], now = later): string => {
  const decision = decide(record, evidence({ rows: seen(rows(5, 'act-new')), slots, answers, now }));
  return decision.kind === 'act' ? decision.effect.kind : decision.kind;
};
const no = (effect: Effect, code: Code, afterMs: number, attempts = 1): DeployEvidence['answers'] => ({
  [effectKey(effect)]: {
    effect,
    outcome: { ok: false, refusal: refusal(code, 'no') },
    atMs: NOW.monotonicMs + afterMs,
    attempts,
  },
});
const seenServing = (incarnation: string | null, afterMs: number, attempts: number): DeployEvidence['answers'] => ({
  [effectKey(observe)]: {
    effect: observe,
    outcome: { ok: true, value: { incarnation, status: 200, body: null } },
    atMs: NOW.monotonicMs + afterMs,
    attempts,
  },
});
const upToPublication = answered([open, 'open'], [grant, 'delivered'], [stage, staged], [publish, 'published']);

test('F8, I9: a grant that found no connection has one opened anew, and is then repeated', () => {
  const refused = { ...answered([open, 'open']), ...no(grant, 'channel-closed', 5) };
  assert.equal(step(refused), 'open-channel');
  const opened = {
    ...refused,
    [effectKey(open)]: { effect: open, outcome: { ok: true, value: 'open' }, atMs: NOW.monotonicMs + 30, attempts: 2 },
  } as const;
  assert.equal(step(opened), 'grant');
});

test('a grant that was not confirmed is repeated over the same connection', () => {
  assert.equal(step({ ...answered([open, 'open']), ...no(grant, 'channel-silent', 5) }), 'grant');
});

test('F8, I9: a stage that the proxy does not know any more is staged anew', () => {
  assert.equal(step({ ...upToPublication, ...no(publish, 'route-stage-unknown', 5) }), 'stage-route');
});

test('F8, I9: what is refused for good past the fence is asked again after a moment: its cause may end', () => {
  const before = answered([open, 'open'], [grant, 'delivered']);
  assert.equal(step({ ...before, ...no(stage, 'router-protocol-differs', 990) }), 'wait');
  assert.equal(step({ ...before, ...no(stage, 'router-protocol-differs', 5) }), 'stage-route');
  assert.equal(
    step({ ...before, ...answered([stage, staged]), ...no(publish, 'router-state-unreadable', 5) }),
    'publish-route',
  );
  assert.equal(step({ ...before, ...no(grant, 'channel-proof-failed', 5) }), 'grant');
});

test('F8, I9: a nonce that is refused for good past the fence is written again after a moment, and says why', () => {
  const again = launchOf(NEW, 'act-again', 13);
  const successor = { subject: NEW.subject, launch: again };
  const passage = { ...HANDOVER.passage, successor, spent: ['act-new'], relaunches: 1, launchedAt: later };
  const opened: Effect = { kind: 'open-channel', handle: again.handle };
  const writing: Effect = { kind: 'write-nonce', plan: NEW.subject.plan, nonce: 'nonce-1', readers: ['act-again'] };
  const after = (answers: DeployEvidence['answers']) =>
    decide(
      transaction({ ...HANDOVER, passage, stuck: refusal('candidate-exited', 'It ended.') }),
      evidence({
        now: later,
        rows: seen(rows(5, 'act-new')),
        slots: {
          'act-again': alive(again, { word: seen(word(NEW, 'act-again')) }),
          'act-old': alive(launchOf(OLD, 'act-old', 11)),
        },
        answers: { ...answered([opened, 'open']), ...answers },
      }),
    );
  const first = after({});
  assert.equal(first.kind === 'act' && first.effect.kind, 'write-nonce');
  const waiting = after(no(writing, 'lease-row-foreign', 990));
  assert.ok(waiting.kind === 'wait');
  assert.match(waiting.what, /^the nonce beside the lease rows: no$/);
  const repeated = after(no(writing, 'lease-row-foreign', 5));
  assert.deepEqual(repeated.kind === 'act' && repeated.effect, writing);
});

test('F8, I9: a proxy that said it published and is seen to serve another, twice, is told anew', () => {
  assert.equal(step(upToPublication), 'observe-route');
  assert.equal(step({ ...upToPublication, ...seenServing('app@other', 5, 1) }), 'observe-route');
  assert.equal(step({ ...upToPublication, ...seenServing('app@other', 5, 2) }), 'stage-route');
  assert.equal(step({ ...upToPublication, ...seenServing(null, 5, 2) }), 'stage-route');
});

test('F8, I9: a proxy that said it published and names another launch of the same build, twice, is told anew', () => {
  const effect: Effect = { kind: 'confirm', plan: NEW.subject.plan, activation: 'act-new' };
  const served = seenServing(NEW.subject.incarnation, 5, 1);
  const named = (activation: string, attempts: number): string => {
    const outcome = {
      ok: true,
      value: { rows: rows(5, 'act-new'), route: routeTo(activation), report: null },
    } as const;
    const read = { [effectKey(effect)]: { effect, outcome, atMs: NOW.monotonicMs + 8, attempts } };
    const state = { ...HANDOVER, phase: 'route-observed' as const };
    const answers = { ...upToPublication, ...served, ...read };
    const decision = decide(
      transaction(state),
      evidence({ rows: seen(rows(5, 'act-new')), slots, answers, now: later }),
    );
    return decision.kind === 'act' ? decision.effect.kind : decision.kind;
  };
  assert.equal(named('act-before', 1), 'confirm');
  assert.equal(named('act-before', 2), 'stage-route');
  assert.equal(named('act-new', 2), 'persist');
});

test('F5: a member that answers badly is served all the same, and nothing is published again', () => {
  const bad = seenServing(NEW.subject.incarnation, 5, 4);
  const redirecting = {
    ...bad,
    [effectKey(observe)]: {
      ...bad[effectKey(observe)],
      outcome: { ok: true, value: { incarnation: NEW.subject.incarnation, status: 301, body: 'moved' } },
    },
  } as DeployEvidence['answers'];
  assert.equal(step({ ...upToPublication, ...redirecting }), 'observe-route');
});

test('F5, I9: last words that no driver can read hold neither the abort nor the way back up', () => {
  const autopsy: Effect = { kind: 'autopsy', activation: 'act-new', word: null };
  const granted = { rows: seen(rows(5, 'act-new')), now: laterBy(600_000) };
  const unread = (attempts: number) => no(autopsy, 'driver-fault', 599_999, attempts);
  const after = (attempts: number) => decide(record, evidence({ ...granted, answers: unread(attempts) }));
  assert.equal(after(1).kind, 'wait', 'it is asked for again');
  const back = after(5);
  assert.ok(back.kind === 'persist' && back.state.phase === 'returning');
  assert.equal(back.state.why.code, 'candidate-never-active');
  assert.deepEqual(back.state.why.detail, { log: ['It cannot be read: no'] });
});
