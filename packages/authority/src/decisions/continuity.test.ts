import assert from 'node:assert/strict';
import { test } from 'node:test';
import { absent, type Moment, ok, refusal, seen, unknown } from '@idunn/kernel';
import { type ContinuityRecord, noContinuity } from '../records/continuity.ts';
import {
  alive,
  CANDIDATE,
  FREEZE,
  INCUMBENT,
  laterBy,
  launchOf,
  NEW,
  NOW,
  OLD,
  rows,
  TARGET,
  transaction,
  word,
} from '../testing/samples.ts';
import { decideContinuity } from './continuity.ts';
import { type ContinuityEvidence, NOT_LOOKED } from './continuity-evidence.ts';
import { restartDelayMs } from './continuity-restart.ts';
import { mintOf } from './continuity-spare.ts';
import { retryDelayMs } from './decision.ts';
import { type Effect, effectKey } from './effects.ts';

const process = alive(launchOf(OLD, 'act-old', 11)).process;
const evidence = (more: Partial<ContinuityEvidence> = {}): ContinuityEvidence => ({
  now: NOW,
  fresh: { activation: 'act-fresh', transaction: 'tx-fresh' },
  target: { ...TARGET, queue: [] },
  record: noContinuity('app'),
  plan: OLD.plan,
  head: null,
  process,
  presence: absent,
  word: seen(word(OLD, 'act-old')),
  hold: absent,
  rows: seen(rows(4, 'act-old')),
  holder: { issued: true, found: NOT_LOOKED },
  route: NOT_LOOKED,
  projected: null,
  listened: { sinceMs: NOW.monotonicMs, untilMs: (more.now ?? NOW).monotonicMs },
  answers: {},
  running: [],
  ...more,
});
const HEAD = transaction({ phase: 'sealed', plan: NEW.subject.plan, subject: null });
const dead = (more: Partial<ContinuityEvidence> = {}): ContinuityEvidence =>
  evidence({ process: absent, word: absent, ...more });

test('I9: what is dead is brought back by a transaction of its own, which takes the target', () => {
  const decision = decideContinuity(dead());
  assert.ok(decision.kind === 'persist' && decision.begin !== null);
  const { transaction, target } = decision.begin;
  assert.deepEqual(target, { takenBy: 'tx-fresh', restart: 'tx-fresh' });
  assert.deepEqual(transaction.request, { kind: 'continuity', cause: 'died' });
  assert.deepEqual([decision.record.streak, decision.record.issued], [1, [INCUMBENT.document.activation, 'act-fresh']]);
});

test('I10: what cannot be seen is neither dead nor restarted, and is told', () => {
  const decision = decideContinuity(evidence({ process: unknown('no permission') }));
  assert.ok(decision.kind === 'rest');
  assert.equal(decision.concerns[0]?.code, 'admitted-unjudged');
});

test('I1, I3: what runs as admitted while its lease names another is told, and nothing is done about it', () => {
  assert.deepEqual(decideContinuity(evidence({ rows: NOT_LOOKED })), { kind: 'look', at: 'rows' });
  for (const astray of [seen(rows(7, 'act-newer')), seen(rows(7, null)), absent]) {
    const decision = decideContinuity(evidence({ rows: astray }));
    assert.ok(decision.kind === 'rest' && decision.wakeAtMs !== null);
    assert.deepEqual(
      decision.concerns.map(({ code }) => code),
      ['lease-row-unexpected'],
    );
  }
});

test('I9: what lives while its lease went to a launch of ours that is gone is ended, and brought back', () => {
  const left = { rows: seen(rows(7, 'act-restart')), holder: { issued: true, found: absent } };
  const ending = decideContinuity(evidence(left));
  assert.ok(ending.kind === 'act' && ending.effect.kind === 'end-process', ending.kind);
  const { effect } = ending;
  assert.equal(effect.activation, INCUMBENT.document.activation);
  const outcome = ok({ kind: 'gone', proof: 'tree-empty', forced: false });
  const answers = { [effectKey(effect)]: { effect, outcome, atMs: NOW.monotonicMs, attempts: 1 } };
  const next = decideContinuity(dead({ ...left, answers }));
  assert.ok(next.kind === 'persist' && next.begin !== null);
  assert.deepEqual(next.begin.transaction.request, { kind: 'continuity', cause: 'failed' });
  const found = seen(CANDIDATE.handle);
  const held = decideContinuity(evidence({ ...left, holder: { issued: true, found } }));
  assert.equal(held.kind, 'rest', 'whoever it names may live');
  const frozen = { ...HEAD, clock: { ...HEAD.clock, frozenSince: NOW } };
  assert.deepEqual(decideContinuity(evidence({ head: frozen, rows: NOT_LOOKED })), { kind: 'look', at: 'rows' });
});

test('I10: a lease row that cannot be read is told and read again, and is no end of what it named', () => {
  const unread = evidence({ rows: unknown('the disk is busy') });
  const decision = decideContinuity(unread);
  assert.ok(decision.kind === 'rest' && decision.wakeAtMs === NOW.monotonicMs + 500);
  assert.deepEqual(
    decision.concerns.map(({ code }) => code),
    ['lease-row-unreadable'],
  );
  const lost = decideContinuity({ ...unread, word: absent });
  assert.ok(lost.kind === 'act' && lost.effect.kind === 'publish-expected', 'the observer is told all the same');
});

test('I1, I7: a spare that holds the lease already was launched by newer records: it is left alone', () => {
  const spare = { activation: 'act-spare', incarnation: INCUMBENT.incarnation, bootId: NOW.bootId };
  const restart = (more: Partial<ContinuityEvidence>) =>
    decideContinuity(dead({ record: { ...noContinuity('app'), spare }, rows: seen(rows(7, 'act-spare')), ...more }));
  assert.deepEqual(restart({ rows: NOT_LOOKED }), { kind: 'look', at: 'rows' });
  for (const found of [seen(CANDIDATE.handle), unknown('the control group cannot be read')]) {
    const decision = restart({ holder: { issued: true, found } });
    assert.ok(decision.kind === 'rest' && decision.wakeAtMs !== null);
    assert.deepEqual(
      decision.concerns.map(({ code }) => code),
      ['lease-row-unexpected'],
    );
  }
  const over = restart({ holder: { issued: true, found: absent } });
  assert.ok(over.kind === 'persist' && over.begin?.activation?.activation === 'act-fresh', 'it was launched once');
  assert.deepEqual(over.record.spare, { ...spare, leaving: true }, 'ours until its row has moved, and no spare again');
  const projected = restart({ holder: { issued: true, found: absent }, word: seen(word(OLD, 'act-spare')) });
  assert.ok(projected.kind === 'act' && projected.effect.kind === 'demote', 'a spare is a launch of ours');
});

test('I1, I10: a spare is launched only where the row shows that nobody has launched it since', () => {
  const spare = { activation: 'act-spare', incarnation: INCUMBENT.incarnation, bootId: NOW.bootId };
  const launched = (more: Partial<ContinuityEvidence>) => {
    const decision = decideContinuity(dead({ record: { ...noContinuity('app'), spare }, ...more }));
    assert.ok(decision.kind === 'persist' && decision.begin !== null);
    return [decision.begin.activation?.activation, decision.record.spare];
  };
  assert.deepEqual(launched({}), ['act-spare', null]);
  assert.deepEqual(launched({ rows: seen(rows(0, null)) }), ['act-spare', null]);
  for (const shown of [unknown('the disk is busy'), absent, seen(rows(7, 'act-stranger'))]) {
    assert.deepEqual(launched({ rows: shown, holder: { issued: false, found: NOT_LOOKED } }), ['act-fresh', spare]);
  }
  assert.deepEqual(launched({ record: { ...noContinuity('app'), spare: { ...spare, leaving: true } } }), [
    'act-fresh',
    { ...spare, leaving: true },
  ]);
});

test('I6: a spare of another release goes durably before its directory does, and is none again', () => {
  const spare = { activation: 'act-spare', incarnation: NEW.subject.incarnation, bootId: NOW.bootId };
  const kept = (held: ContinuityRecord['spare'], more: Partial<ContinuityEvidence> = {}) =>
    decideContinuity(evidence({ record: { ...noContinuity('app'), spare: held }, ...more }));
  const going = kept(spare);
  assert.ok(going.kind === 'persist' && going.begin === null);
  assert.deepEqual(going.record.spare, { ...spare, leaving: true });
  const effect = { kind: 'retire', activation: 'act-spare' } as const;
  for (const incarnation of [NEW.subject.incarnation, INCUMBENT.incarnation]) {
    assert.deepEqual(kept({ ...spare, incarnation, leaving: true }), { kind: 'act', effect }, 'admitted again or not');
  }
  const answers = { [effectKey(effect)]: { effect, outcome: ok('done'), atMs: NOW.monotonicMs, attempts: 1 } };
  const gone = kept({ ...spare, leaving: true }, { answers });
  const fresh = { activation: 'act-fresh', incarnation: INCUMBENT.incarnation, bootId: NOW.bootId };
  assert.ok(gone.kind === 'persist');
  assert.deepEqual(gone.record.spare, fresh);
});

test('what waits for its turn again hides nothing that is amiss', () => {
  const spare = { activation: 'act-spare', incarnation: INCUMBENT.incarnation, bootId: NOW.bootId };
  const effect = mintOf(INCUMBENT, 'act-spare');
  const outcome = { ok: false, refusal: refusal('activation-start-unknown', 'not now') } as const;
  const answers = { [effectKey(effect)]: { effect, outcome, atMs: NOW.monotonicMs, attempts: 1 } };
  const charged = Array.from({ length: 6 }, () => NOW);
  const record = { ...noContinuity('app'), spare, charged };
  const decision = decideContinuity(evidence({ record, answers }));
  assert.ok(decision.kind === 'rest' && decision.wakeAtMs === NOW.monotonicMs + 5_000 + retryDelayMs(1));
  assert.deepEqual(
    decision.concerns.map(({ code }) => code),
    ['restarted-too-often'],
  );
});

test('I9: that it was restarted too often stays told, whatever the next restart waits for', () => {
  const demotion: Effect = { kind: 'demote', incarnation: INCUMBENT.incarnation, activation: 'act-old' };
  const outcome = { ok: false, refusal: refusal('observer-busy', 'not now') } as const;
  const answers = { [effectKey(demotion)]: { effect: demotion, outcome, atMs: NOW.monotonicMs, attempts: 1 } };
  const charged = Array.from({ length: 6 }, () => NOW);
  const record = { ...noContinuity('app'), assessed: 'act-old', charged };
  const codes = (e: ContinuityEvidence): readonly string[] => {
    const decision = decideContinuity({ ...e, record });
    return decision.kind === 'rest' ? decision.concerns.map(({ code }) => code) : [decision.kind];
  };
  assert.deepEqual(codes(dead({ answers, word: seen(word(OLD, 'act-old')) })), ['restarted-too-often']);
  assert.deepEqual(codes(dead({ hold: seen(FREEZE) })).slice(0, 1), ['restarted-too-often']);
  assert.deepEqual(codes(evidence({ process: unknown('no answer') })).slice(0, 1), ['restarted-too-often']);
});

function routed(activation: string): ContinuityEvidence['route'] {
  const at = { host: '127.0.0.1', port: 1 };
  const members = [{ incarnation: INCUMBENT.incarnation, activation, backend: at }];
  const about = { route: 'app', generation: 1, listen: at, protocol: 'http', names: [], certificates: [] } as const;
  return seen({ ...about, members });
}

test('I9: who was left stranded, lives and is led to by no route is replaced; who is led to is kept', () => {
  const left = { ...TARGET, queue: [], stranded: INCUMBENT };
  const decided = (more: Partial<ContinuityEvidence>) => decideContinuity(evidence({ target: left, ...more }));
  assert.deepEqual(decided({}), { kind: 'look', at: 'route' });
  for (const route of [routed('act-dead'), absent]) {
    const ending = decided({ route });
    assert.ok(ending.kind === 'act' && ending.effect.kind === 'end-process', ending.kind);
  }
  const kept = decided({ route: routed('act-old') });
  assert.ok(kept.kind === 'persist' && kept.begin === null, 'only a spare is kept');
  const frozen = { ...HEAD, clock: { ...HEAD.clock, frozenSince: NOW } };
  const unseen = decided({ route: unknown('no answer'), plan: { ...OLD.plan, state: null }, head: frozen });
  assert.ok(unseen.kind === 'rest' && unseen.wakeAtMs === NOW.monotonicMs + 1_000);
  const taking = decided({ route: absent, head: HEAD });
  assert.ok(taking.kind === 'rest', 'the deployment at work takes it');
  const alone = { ...OLD.plan, route: null };
  assert.ok(decided({ plan: alone }).kind === 'persist');
});

test('I9, F16: who serves without an admission is led to it as it runs, and who was admitted before it leaves', () => {
  const spare = { activation: 'act-spare', incarnation: INCUMBENT.incarnation, bootId: NOW.bootId };
  const target = { ...TARGET, queue: [], stranded: INCUMBENT };
  const present = { state: 'active' as const, epoch: 4, sequence: 2, observedAtMs: 0, fresh: true };
  const disagreements = [{ code: 'incarnation-mismatch' as const, detail: 'It says that it is another.' }];
  const kept = (more: Partial<ContinuityEvidence>): ContinuityEvidence => {
    const about = { target, record: { ...noContinuity('app'), spare }, route: routed('act-old') };
    const e = evidence({ ...about, word: seen(word(OLD, 'act-old', { present })), ...more });
    const mint = mintOf(INCUMBENT, 'act-spare');
    const outcome = { ok: true as const, value: CANDIDATE.document };
    return { ...e, answers: { [effectKey(mint)]: { effect: mint, outcome, atMs: 0, attempts: 1 } } };
  };
  for (const plan of [OLD.plan, { ...OLD.plan, route: null }]) {
    const led = decideContinuity(kept({ plan }));
    assert.ok(led.kind === 'persist' && led.begin !== null);
    assert.deepEqual([led.begin.activation, led.begin.target], [null, { takenBy: 'tx-fresh', restart: 'tx-fresh' }]);
    const { state, request } = led.begin.transaction;
    assert.deepEqual(request, { kind: 'continuity', cause: 'stranded' });
    assert.ok(state.phase === 'incumbent-fenced');
    const { direction, successor, predecessors, move } = state.passage;
    assert.deepEqual([direction, successor.launch.id, successor.launch.step], ['back', 'act-old', 'current']);
    assert.deepEqual(move?.to, { epoch: 4, activation: 'act-old' });
    assert.deepEqual(predecessors, [INCUMBENT]);
    assert.equal(led.record.streak, 0, 'nothing was restarted');
  }
  const frozen = { ...HEAD, clock: { ...HEAD.clock, frozenSince: NOW } };
  for (const amiss of [
    { rows: seen(rows(5, 'act-other')) },
    { rows: unknown('it cannot be opened') },
    { now: laterBy(OLD.plan.health.freshnessMs + 1), word: unknown('the link is down') },
    { head: frozen },
    { target: { ...target, draining: ['tx-0'] } },
    // What serves is not led into a passage that would end it (I7).
    { word: seen(word(OLD, 'act-old', { present, disagreements })) },
    { word: seen(word(OLD, 'act-old')) },
  ]) {
    const decision = decideContinuity(kept(amiss));
    assert.ok(decision.kind === 'rest', JSON.stringify(amiss));
  }
});

test('nothing is begun while a transaction owns the target', () => {
  const owned = { ...TARGET, queue: [], takenBy: 'tx-1' };
  assert.equal(decideContinuity(dead({ target: owned })).kind, 'rest');
});

test('F29: the wait before an attempt doubles to its cap, and one of another boot begins anew', () => {
  assert.deepEqual([0, 1, 2, 3, 7, 50].map(restartDelayMs), [0, 5_000, 10_000, 20_000, 300_000, 300_000]);
  const earlier = { ...NOW, bootId: 'boot-0' };
  const record = { ...noContinuity('app'), streak: 2, assessed: 'act-old', anchor: earlier };
  const admittedIn = (admittedAt: Moment) => {
    const admitted = { ...INCUMBENT, transaction: 'tx-0', admittedAt, runningSince: NOW };
    return decideContinuity(dead({ record, now: laterBy(60_000), target: { ...TARGET, queue: [], admitted } }));
  };
  const decision = admittedIn(earlier);
  assert.ok(decision.kind === 'persist' && decision.begin === null);
  assert.deepEqual(decision.record.anchor, laterBy(60_000));
  const ofAnother = admittedIn(NOW);
  assert.ok(ofAnother.kind === 'persist' && ofAnother.begin !== null, 'admitted since the reboot: nothing is owed');
});

test('I4: what the observer lost is told while a deployment waits, and no more once that speaks itself', () => {
  const waiting = transaction({ phase: 'sealed', plan: NEW.subject.plan, subject: NEW.subject });
  const free = { ...TARGET, takenBy: null, draining: [] };
  const told = decideContinuity(evidence({ word: absent, head: waiting, target: free }));
  assert.equal(told.kind === 'act' ? told.effect.kind : told.kind, 'publish-expected');
  const speaking = transaction({ phase: 'expected-published', subject: NEW.subject });
  assert.equal(decideContinuity(evidence({ word: absent, head: speaking, target: free })).kind, 'rest');
});

test('I5: a refused demotion defers the attempt with a record, and is asked again after the wait', () => {
  const effect = { kind: 'demote', incarnation: INCUMBENT.incarnation, activation: 'act-old' } as const;
  const outcome = { ok: false, refusal: refusal('activation-not-current', 'another one is') } as const;
  const answers = { [effectKey(effect)]: { effect, outcome, atMs: NOW.monotonicMs, attempts: 1 } };
  const projected = seen(word(OLD, 'act-old'));
  assert.deepEqual(decideContinuity(dead({ word: projected })), { kind: 'act', effect });
  const deferred = decideContinuity(dead({ word: projected, answers }));
  assert.ok(deferred.kind === 'persist' && deferred.begin === null);
  assert.equal(deferred.record.deferral?.code, 'activation-not-current');
  const { record } = deferred;
  assert.equal(decideContinuity(dead({ word: projected, answers, record, now: laterBy(4_000) })).kind, 'rest');
  assert.deepEqual(decideContinuity(dead({ word: projected, answers, record, now: laterBy(5_000) })), {
    kind: 'act',
    effect,
  });
});

test('I1, I9: what held the last restart is an open incident until it ends, also while the next one waits', () => {
  const record = { ...noContinuity('app'), streak: 3, assessed: 'act-old', anchor: NOW };
  const unissued = { issued: false, found: NOT_LOOKED };
  const told = (more: Partial<ContinuityEvidence>) => {
    const decision = decideContinuity(dead({ record, ...more }));
    if (decision.kind !== 'rest') return decision;
    const { concerns, wakeAtMs, attemptAtMs } = decision;
    return [concerns.map(({ code }) => code), wakeAtMs === attemptAtMs];
  };
  assert.deepEqual(told({ rows: NOT_LOOKED }), { kind: 'look', at: 'rows' });
  const stranger = seen(rows(7, 'act-newer'));
  assert.deepEqual(told({ rows: stranger, holder: unissued }), [
    ['lease-row-unexpected', 'admitted-process-lost'],
    false,
  ]);
  const left = { issued: true, found: absent };
  assert.deepEqual(told({ rows: stranger, holder: left }), [['admitted-process-lost'], true], 'ours, and gone');
  assert.deepEqual(told({ rows: unknown('the disk is busy') }), [
    ['lease-row-unreadable', 'admitted-process-lost'],
    false,
  ]);
  assert.deepEqual(told({}), [['admitted-process-lost'], true]);
});

test('I5: an activation that none of its transactions issued is never adopted and never demoted', () => {
  const projected = { activation: 'act-foreign', issued: false };
  const decision = decideContinuity(dead({ word: seen(word(OLD, 'act-foreign')), projected }));
  assert.ok(decision.kind === 'rest');
  assert.equal(decision.concerns[0]?.code, 'projection-foreign');
  assert.match(decision.wait?.remedy ?? '', /idunn takeover app --confirm act-foreign/);
});

test('I9: what a return of it had launched is demoted by its name, though continuity never began it', () => {
  const told = seen(word(OLD, 'act-returned'));
  assert.deepEqual(decideContinuity(dead({ word: told })), { kind: 'look', at: 'projected' });
  const decision = decideContinuity(dead({ word: told, projected: { activation: 'act-returned', issued: true } }));
  assert.ok(decision.kind === 'act' && decision.effect.kind === 'demote');
  assert.equal(decision.effect.activation, 'act-returned');
  const other = { activation: 'act-earlier', issued: true };
  assert.deepEqual(decideContinuity(dead({ word: told, projected: other })), { kind: 'look', at: 'projected' });
});

test('F11: a presence that lapsed is an incident; it is a death only as the binding says', () => {
  const lapsedMs = OLD.plan.health.freshnessMs + 1;
  const silent = { word: seen(word(OLD, 'act-old', { present: null })), now: laterBy(lapsedMs) };
  const left = decideContinuity(
    evidence({ ...silent, head: null, target: { ...TARGET, queue: [], draining: ['tx-0'] } }),
  );
  assert.ok(left.kind === 'rest');
  assert.deepEqual(
    left.concerns.map(({ code }) => code),
    ['presence-lapsed'],
  );
  const plan = { ...OLD.plan, continuity: { failedAfterMs: 10_000 } };
  const failed = decideContinuity(evidence({ ...silent, plan, now: laterBy(lapsedMs + 10_000) }));
  assert.ok(failed.kind === 'act' && failed.effect.kind === 'end-process', 'ended and seen gone before the next one');
});

test('I10: what nobody listened to is no silence of the process; who speaks for it is listened for again', () => {
  const { freshnessMs } = OLD.plan.health;
  const plan = { ...OLD.plan, continuity: { failedAfterMs: 10_000 } };
  const now = laterBy(10 * freshnessMs + 10_000);
  const word = unknown('the observer is away');
  const target = { ...TARGET, queue: [], draining: ['tx-0'] };
  const listenedFor = (silentMs: number, endMs: number) =>
    decideContinuity(evidence({ now, plan, word, target, listened: { sinceMs: endMs - silentMs, untilMs: endMs } }));
  const concerned = (decision: ReturnType<typeof listenedFor>) => {
    assert.ok(decision.kind === 'rest', decision.kind);
    assert.ok(decision.wakeAtMs !== null && decision.wakeAtMs > now.monotonicMs);
    return decision.concerns.map(({ code }) => code);
  };
  for (const endMs of [now.monotonicMs, now.monotonicMs - 5 * freshnessMs]) {
    assert.deepEqual(concerned(listenedFor(freshnessMs - 1, endMs)), []);
    assert.deepEqual(concerned(listenedFor(freshnessMs + 9_999, endMs)), ['presence-lapsed']);
    const failed = listenedFor(freshnessMs + 10_000, endMs);
    assert.ok(failed.kind === 'act' && failed.effect.kind === 'end-process');
  }
});
