import assert from 'node:assert/strict';
import { test } from 'node:test';
import { absent, type Digest, digestJson, refusal, seen, unknown } from '@idunn/kernel';
import type { Plan } from '@idunn/release';
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
  OLD,
  routeTo,
  rows,
  transaction,
} from '../testing/samples.ts';
import { decide } from './decide.ts';
import type { Effect } from './effects.ts';
import type { DeployEvidence } from './evidence.ts';

const away = unknown('the link to the observer is down');
const old = launchOf(OLD, 'act-old', 11);
const own = (
  id: string,
  state: 'warming' | 'active',
  epoch: number | null,
): DeployEvidence['slots'][string]['presence'] =>
  seen({
    presence: {
      header: {
        schema: 'idunn.presence/v1',
        issuer: CANDIDATE.document.keyId,
        audience: { fleet: 'home', machine: 'local' },
        subject: id,
        requestId: 'p-1',
        sequence: 4,
      },
      target: 'app',
      incarnation: NEW.subject.incarnation,
      activation: id,
      state,
      pid: 12,
      epoch,
      endpoint: CANDIDATE.document.endpoint,
      stateSchema: null,
      capabilities: [],
      detail: '',
    },
    ageMs: 1,
  });
const plansWith = (change: (plan: Plan) => Plan): Readonly<Record<Digest, Plan>> =>
  Object.fromEntries([OLD, NEW].map(({ subject, plan }) => [subject.plan, change(plan)]));
const stateless = plansWith((plan) => ({ ...plan, state: null }));
const alone = plansWith((plan) => ({ ...plan, rollout: { strategy: 'stop-then-start', reason: 'one port' } }));

const warming = transaction({ phase: 'warming', subject: NEW.subject, launch: CANDIDATE });
const unseen = (state: 'warming' | 'active', epoch: number | null) => ({
  'act-old': alive(old, { word: away }),
  'act-new': alive(CANDIDATE, { word: away, presence: own('act-new', state, epoch) }),
});

test('I4: without the observer no handover begins, whatever a candidate says of itself', () => {
  const slots = unseen('active', null);
  const stage: Effect = {
    kind: 'stage-route',
    plan: NEW.subject.plan,
    members: [
      {
        activation: 'act-new',
        incarnation: NEW.subject.incarnation,
        backend: CANDIDATE.document.endpoint ?? { host: '', port: 0 },
      },
    ],
  };
  const e = { plans: stateless, slots, answers: answered([stage, { stage: 's', generation: 1 }]) };
  const waiting = decide(warming, evidence(e));
  assert.ok(waiting.kind === 'wait');
  assert.match(waiting.what, /observer/);
  const late = decide(warming, evidence({ ...e, now: laterBy(3_600_000) }));
  assert.ok(late.kind === 'act' && late.effect.kind === 'autopsy', 'it is given up, and says what it missed');
});

test('I7: what cannot overlap is not stopped while the observer is away', () => {
  const issued = transaction({
    phase: 'activation-issued',
    subject: NEW.subject,
    launch: { step: 'issued', id: 'act-new' },
  });
  const e = evidence({
    plans: alone,
    slots: unseen('warming', null),
    answers: answered([{ kind: 'prepare-lease', plan: NEW.subject.plan }, 'prepared']),
  });
  const waiting = decide(issued, e);
  assert.ok(waiting.kind === 'wait');
  assert.match(waiting.what, /observer/);
});

const receipt = {
  receipt: digestJson('receipt'),
  activation: 'act-new',
  epoch: 5,
  sequence: 4,
  observedAtMs: 0,
};
const granted = answered(
  [{ kind: 'open-channel', handle: CANDIDATE.handle }, 'open'],
  [{ kind: 'grant', grant: { activation: 'act-new', stateId: 'app-state', epoch: 5 } }, 'delivered'],
);
const fenced = (held: DeployEvidence['marks']['receipts'], more: Partial<DeployEvidence> = {}) =>
  evidence({
    rows: seen(rows(5, 'act-new')),
    answers: granted,
    slots: unseen('active', 5),
    marks: { reached: {}, firstWrites: {}, receipts: held },
    ...more,
  });
const stepOf = (record: ReturnType<typeof transaction>, e: DeployEvidence): string => {
  const decision = decide(record, e);
  return decision.kind === 'act' ? decision.effect.kind : decision.kind;
};

test('I4: past its fence a deployment promotes without the observer only on the Ready receipt that it holds', () => {
  const tx = transaction(HANDOVER);
  assert.equal(stepOf(tx, fenced({})), 'wait');
  assert.equal(stepOf(tx, fenced({ 'act-new': receipt })), 'stage-route');
  assert.equal(stepOf(tx, fenced({ 'act-new': { ...receipt, epoch: 4 } })), 'wait', 'I5: of another epoch');
  const back = {
    ...unseen('active', 5),
    'act-new': alive(CANDIDATE, { word: absent, presence: own('act-new', 'active', 5) }),
  };
  assert.equal(stepOf(tx, fenced({ 'act-new': receipt }, { slots: back })), 'wait', 'once it is back, its word counts');
});

test('I4, I6: the receipt that the route was published on is durable with it', () => {
  const published = fenced(
    { 'act-new': receipt },
    { marks: { reached: {}, firstWrites: {}, receipts: { 'act-new': receipt } } },
  );
  const route = seen(routeTo('act-new', 2));
  const observe: Effect = { kind: 'observe-route', route: 'app', path: '/version' };
  const seenServing = {
    ...granted,
    ...answered([observe, { incarnation: NEW.subject.incarnation, status: 200, body: '' }]),
  };
  const recorded = decide(transaction(HANDOVER), { ...published, route, answers: seenServing });
  assert.ok(recorded.kind === 'persist' && recorded.state.phase === 'route-observed');
  assert.deepEqual(recorded.state.passage.receipt, receipt);
  const next = { ...published, route, answers: seenServing, marks: { reached: {}, firstWrites: {}, receipts: {} } };
  assert.equal(stepOf(transaction(recorded.state), next), 'confirm');
});

test('going back without state hears the incumbent on its own connection when the observer is away', () => {
  const returning = transaction({
    phase: 'returning',
    why: { code: 'candidate-never-ready', reason: 'r', remedy: 'r', blame: 'user', retry: 'final' } as never,
    candidate: { subject: NEW.subject, launch: CANDIDATE, spent: [] },
    settled: false,
    gone: false,
    stuck: null,
    passage: {
      direction: 'back',
      requestId: 'req-2',
      successor: { subject: OLD.subject, launch: old },
      spent: [],
      relaunches: 0,
      predecessors: [{ ...INCUMBENT, document: CANDIDATE.document, handle: CANDIDATE.handle }],
      move: null,
      origin: null,
      echoed: [],
    },
  });
  const e = evidence({ plans: stateless, slots: unseen('active', null) });
  assert.equal(stepOf(returning, e), 'open-channel');
});

test('I6, I9: a restart that another engine takes up as it warms hears it on its own connection, for ever', () => {
  const tx = transaction(
    { phase: 'warming', subject: OLD.subject, launch: old },
    { request: { kind: 'continuity', cause: 'rebooted' } },
  );
  const slots = { 'act-old': alive(old, { word: away }) };
  assert.equal(stepOf(tx, evidence({ slots })), 'open-channel');
  const open: Effect = { kind: 'open-channel', handle: old.handle };
  const refused = {
    'open-channel act-old': {
      effect: open,
      outcome: { ok: false as const, refusal: refusal('channel-not-listening', 'It does not listen yet.') },
      atMs: evidence().now.monotonicMs,
      attempts: 1,
    },
  };
  assert.equal(stepOf(tx, evidence({ slots, answers: refused })), 'wait');
  assert.equal(stepOf(tx, evidence({ slots, answers: refused, now: laterBy(200) })), 'open-channel');
});

test('F2: what waits for an observer that hangs is told the command that replaces it', () => {
  const sealed = transaction({ phase: 'sealed', plan: NEW.subject.plan, subject: NEW.subject });
  const waiting = decide(sealed, evidence({ observer: unknown('the observer has said nothing for 15000 ms') }));
  assert.ok(waiting.kind === 'wait');
  assert.equal(waiting.what, 'the observer: the observer has said nothing for 15000 ms');
  assert.match(waiting.remedy, /lives and says nothing is replaced by idunn restart observer/);
});
