import assert from 'node:assert/strict';
import { test } from 'node:test';
import { absent, refusal, refused, seen, unknown } from '@idunn/kernel';
import type { Plan } from '@idunn/release';
import type { DeployState } from '../records/transaction.ts';
import {
  alive,
  answered,
  buildOf,
  CANDIDATE,
  CLAIM,
  evidence,
  HANDOVER,
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
import { decide } from './decide.ts';
import { type Effect, effectKey } from './effects.ts';
import { type DeployEvidence, type Slot, UNREAD_SLOT } from './evidence.ts';

const reason = 'it owns the camera';
const plansWith = (change: Partial<Plan>, ofOld: Partial<Plan> = change): DeployEvidence['plans'] => ({
  [OLD.subject.plan]: { ...OLD.plan, ...ofOld },
  [NEW.subject.plan]: { ...NEW.plan, ...change },
});
const stopping = { rollout: { strategy: 'stop-then-start', reason } } as const;
const ALONE = plansWith(stopping);

const issued = transaction({
  phase: 'activation-issued',
  subject: NEW.subject,
  launch: { step: 'issued', id: 'act-new' },
});
const prepared: Effect = { kind: 'prepare-lease', plan: NEW.subject.plan };
const { fleet, target } = NEW.plan;
const written: Effect = {
  kind: 'write-claim',
  plan: NEW.subject.plan,
  claim: { ...CLAIM, fleet, target },
  over: null,
};
type Given = readonly (readonly [Effect, unknown])[];
const ended: Effect = { kind: 'end-process', activation: 'act-old', handle: INCUMBENT.handle, graceMs: 100 };
const gone = [ended, { kind: 'gone', proof: 'tree-empty', forced: false }] as const;
const hold: Effect = { kind: 'hold-route', route: 'app', termMs: 500 };
const ready = { plans: ALONE, answers: answered([prepared, rows(4, 'act-old')], [written, 'written']) };
const step = (e: Partial<DeployEvidence>, tx = issued) => decide(tx, evidence(e));

test('what cannot overlap is taken on leaving activation-issued, before anything of it is launched', () => {
  const decision = step(ready);
  assert.ok(decision.kind === 'persist' && decision.state.phase === 'incumbent-fenced');
  const { passage } = decision.state;
  assert.deepEqual(passage.successor.launch, { step: 'issued', id: 'act-new' });
  assert.deepEqual(passage.move, { from: passage.origin, to: passage.origin });
  assert.equal(decision.target?.takenBy, 'tx-1');
  assert.equal(decision.freeze?.phase, 'activation-issued');
});

test('I8: a freeze holds it there, and the incumbent is not asked to end', () => {
  const freeze = { by: 'ada', reason: 'audit', since: '', record: NEW.release.release, clearedBy: '' };
  const decision = step({ ...ready, freeze: seen(freeze) });
  assert.ok(decision.kind === 'persist' && decision.state.phase === 'activation-issued');
  assert.equal(decision.clock, 'freeze');
});

test('I7: an incumbent whose end nobody could prove is not asked to end', () => {
  const forking = plansWith(stopping, { launch: { ...OLD.plan.launch, singleProcess: false } });
  const autopsied = step({ ...ready, plans: forking });
  assert.ok(autopsied.kind === 'act' && autopsied.effect.kind === 'autopsy');
});

test('I1: what cannot overlap is not started beside a holder of the lease whom no record knows, and says so', () => {
  const unknownHolder = {
    ...ready,
    target: { ...TARGET, admitted: null },
    rows: seen(rows(7, 'act-newer')),
    holder: { issued: false, found: absent },
  };
  const decision = step(unknownHolder);
  assert.ok(decision.kind === 'wait');
  assert.equal(decision.incident, 'lease-row-unexpected');
  assert.match(decision.what, /act-newer/);
});

const clearedAway = { ...TARGET, restart: 'tx-restart', takenBy: null };

test('I1: what cannot overlap waits until a restart that was given up is cleared away, and is let in then', () => {
  const decision = step({ ...ready, target: clearedAway });
  assert.ok(decision.kind === 'persist' && decision.state.phase === 'activation-issued');
  assert.deepEqual(decision.target, { awaitedBy: 'tx-1' }, 'no restart begins once it is gone');
  const waiting = step({ ...ready, target: { ...clearedAway, awaitedBy: 'tx-1' } });
  assert.match(waiting.kind === 'wait' ? waiting.what : waiting.kind, /^tx-restart, which is being cleared away$/);
  const gone = step({ ...ready, target: { ...TARGET, awaitedBy: 'tx-1' } });
  assert.ok(gone.kind === 'persist' && gone.target?.takenBy === 'tx-1');
});

test('I1: what only the end of every process fences waits for the same; what the epoch fences does not', () => {
  const warming = transaction({ phase: 'warming', subject: NEW.subject, launch: CANDIDATE });
  const gatedAt = { ...CANDIDATE, observed: { ...CANDIDATE.observed, gate: 'waiting' as const } };
  const slots = { 'act-old': alive(CANDIDATE), 'act-new': alive(gatedAt, { word: seen(word(NEW, 'act-new')) }) };
  const behindGate = { ...warming, state: { phase: 'warming', subject: NEW.subject, launch: gatedAt } } as const;
  const gated = step({ plans: GATED, slots, target: clearedAway }, behindGate);
  assert.ok(gated.kind === 'persist' && gated.target?.awaitedBy === 'tx-1', gated.kind);
  const compared = step({ target: clearedAway }, warming);
  assert.ok(compared.kind === 'act', compared.kind);
});

const beside = { activation: 'act-newer', pid: 77 };

test('I1, I7: nothing is stopped or launched beside a process that no record stands for, and that is told', () => {
  const nobody = { ...TARGET, admitted: null };
  for (const target of [TARGET, nobody]) {
    const rowless = target === nobody ? { rows: seen(rows(0, null)) } : {};
    const decision = step({ ...ready, ...rowless, target, others: seen([beside]) });
    assert.ok(decision.kind === 'wait', decision.kind);
    assert.equal(decision.incident, 'unrecorded-process');
    assert.match(decision.what, /^act-newer, which runs as process 77, and is none/);
    const unseen = step({ ...ready, ...rowless, target, others: unknown('permission denied') });
    assert.match(unseen.kind === 'wait' ? unseen.what : unseen.kind, /cannot be seen: permission denied$/);
  }
  const late = { ...ready, others: seen([beside]), now: laterBy(3_600_000) };
  const autopsy: Effect = { kind: 'autopsy', activation: 'act-new', word: null };
  const words = answered([autopsy, { exit: null, log: [], presence: null, reading: null }]);
  const given = step({ ...late, answers: { ...late.answers, ...words } });
  assert.ok(given.kind === 'persist' && given.state.phase === 'aborting');
  assert.equal(given.state.why.code, 'unrecorded-process');
});

test('I1: inside the handover it is waited for as well before the next launch', () => {
  const passage = {
    ...HANDOVER.passage,
    successor: { subject: NEW.subject, launch: { step: 'issued', id: 'act-next' } as const },
    move: { from: { epoch: 4, activation: 'act-old' }, to: { epoch: 4, activation: 'act-old' } },
    predecessors: [],
  };
  const relaunching = transaction({ ...HANDOVER, passage });
  const ended: Effect = { kind: 'end-process', activation: 'act-old', handle: null, graceMs: 100 };
  const held: Effect = { kind: 'hold-route', route: 'app', termMs: 500 };
  const given = {
    plans: ALONE,
    answers: answered([held, 'held'], [ended, { kind: 'gone', proof: 'tree-empty', forced: false }]),
  };
  const waiting = step({ ...given, others: seen([beside]) }, relaunching);
  assert.ok(waiting.kind === 'wait', JSON.stringify(waiting));
  assert.equal(waiting.incident, 'unrecorded-process');
  const launching = step(given, relaunching);
  assert.ok(launching.kind === 'act' && launching.effect.kind === 'prepare-lease', launching.kind);
  const overlapping = step({ answers: given.answers, others: unknown('not read') }, relaunching);
  assert.ok(overlapping.kind === 'act', overlapping.kind);
});

test('a first deployment has nobody to stop, and goes as any other', () => {
  const decision = step({ ...ready, target: { ...TARGET, admitted: null }, answers: {}, rows: seen(rows(0, null)) });
  assert.ok(decision.kind === 'act');
  const kinds = [decision.effect, ...(decision.beside ?? [])].map(({ kind }) => kind);
  assert.deepEqual(new Set(kinds), new Set(['mint', 'prepare-lease']));
});

test('I10, I9: a restart whose start was cut off is not told to have exited, and launches once more by itself', () => {
  const again = launchOf(OLD, 'act-again', 13);
  const row = { epoch: 4, activation: 'act-old' };
  const restart = transaction(
    {
      phase: 'incumbent-fenced',
      stuck: null,
      passage: {
        ...HANDOVER.passage,
        direction: 'back',
        successor: { subject: OLD.subject, launch: { step: 'minted', id: again.id, document: again.document } },
        move: { from: row, to: row },
        origin: row,
      },
    },
    { request: { kind: 'continuity', cause: 'died' } },
  );
  const start: Effect = { kind: 'start', subject: OLD.subject, document: again.document };
  const outcome = refused(refusal('activation-spent', 'It was started before.'));
  const spent = { [effectKey(start)]: { effect: start, outcome, atMs: NOW.monotonicMs, attempts: 1 } };
  const nobody: Effect = { kind: 'end-process', activation: again.id, handle: null, graceMs: 0 };
  const proof = { kind: 'gone', proof: 'tree-empty', forced: false };
  const finding = (found: Slot['found'], ...given: Given) =>
    step(
      {
        plans: ALONE,
        target: { ...TARGET, takenBy: 'tx-1', restart: 'tx-1' },
        slots: { 'act-old': { ...UNREAD_SLOT, process: absent }, [again.id]: { ...UNREAD_SLOT, found } },
        answers: { ...answered([hold, 'held'], gone, ...given), ...spent },
      },
      restart,
    );
  const left = finding(absent);
  assert.deepEqual(left.kind === 'act' ? left.effect : left, nobody, 'whatever is left of it goes');
  // Where there are no control groups, nothing tells of what was taken away.
  const away = unknown('its directory is missing');
  const next = finding(away, [nobody, proof], [{ kind: 'retire', activation: again.id }, 'done']);
  assert.ok(next.kind === 'persist' && next.state.phase === 'incumbent-fenced');
  assert.deepEqual(next.state.passage.successor.launch, { step: 'issued', id: 'act-fresh' });
  assert.deepEqual(next.state.passage.spent, [again.id]);
  assert.equal(next.extra?.[0]?.id, 'act-fresh', 'its record goes with it (I6)');
});

test('I1: on the way back a start of the candidate that is still on its way finds it spent', () => {
  const launch = { step: 'minted', id: 'act-new', document: CANDIDATE.document } as const;
  const row = { epoch: 4, activation: 'act-old' };
  const successor = { subject: OLD.subject, launch: launchOf(OLD, 'act-old', 11) };
  const returning = transaction({
    phase: 'returning',
    why: refusal('fence-not-proven', 'It was not fenced.'),
    candidate: { subject: NEW.subject, launch, spent: [] },
    passage: {
      ...HANDOVER.passage,
      direction: 'back',
      predecessors: [],
      successor,
      move: { from: row, to: row },
      origin: row,
    },
    settled: false,
    gone: false,
    stuck: null,
  });
  const nobody: Effect = { kind: 'end-process', activation: 'act-new', handle: null, graceMs: 100 };
  const retired: Effect = { kind: 'retire', activation: 'act-new' };
  const proof = { kind: 'gone', proof: 'tree-empty', forced: false };
  const after = (...given: Given) => step({ plans: ALONE, answers: answered(...given) }, returning);
  const [ends, spends, goesOn] = [after(), after([nobody, proof]), after([nobody, proof], [retired, 'retired'])];
  assert.deepEqual(ends.kind === 'act' && ends.effect, nobody);
  assert.deepEqual(spends.kind === 'act' && spends.effect, retired);
  assert.ok(goesOn.kind === 'persist' && goesOn.state.phase === 'returning' && goesOn.state.gone);
});

const GATED = plansWith({
  health: {
    kind: 'attended',
    path: '/version',
    freshnessMs: 300_000,
    probe: { kind: 'tcp' },
    intervalMs: 1_000,
    timeoutMs: 1_000,
    successes: 1,
    failures: 3,
  },
  state: NEW.plan.state === null ? null : { ...NEW.plan.state, lease: 'file', fence: 'tree-empty' },
});
const atGate = { ...CANDIDATE, observed: { ...CANDIDATE.observed, gate: 'waiting' as const } };
const gated = transaction({
  ...HANDOVER,
  passage: { ...HANDOVER.passage, echoed: [], successor: { subject: NEW.subject, launch: atGate } },
});
const inFlight: Effect = { kind: 'in-flight', route: 'app', incarnation: OLD.subject.incarnation };
const look: Effect = { kind: 'observe-process', handle: CANDIDATE.handle, release: NEW.subject.release };
const asked = (...given: Given): string => {
  const decision = step({ plans: GATED, answers: answered(...given) }, gated);
  return decision.kind === 'act' ? decision.effect.kind : `${decision.kind} ${'what' in decision ? decision.what : ''}`;
};

test('F25, I1: behind a gate nobody is asked to relinquish: hold, let finish, end, look, move the row', () => {
  assert.equal(asked(), 'hold-route');
  assert.equal(asked([hold, 'held']), 'in-flight');
  assert.match(asked([hold, 'held'], [inFlight, 2]), /wait the requests that/);
  assert.equal(asked([hold, 'held'], [inFlight, 0]), 'end-process');
  assert.equal(asked([hold, 'held'], gone), 'observe-process');
  assert.equal(asked([hold, 'held'], gone, [look, atGate.observed]), 'swap');
});

test('F25, I12: whoever is served yet is let finish behind a hold that lasts, not one whose term is over', () => {
  const stuck = refusal('lease-row-unreadable', 'It was stuck until now, and nobody renewed its hold.');
  const told = (inFlightAtMs: number, more: Partial<DeployEvidence> = {}): string => {
    const answers = answered([hold, 'held'], [inFlight, 0]);
    const known = answers[effectKey(inFlight)];
    assert.ok(known);
    const decision = step(
      {
        plans: GATED,
        now: laterBy(500),
        answers: { ...answers, [effectKey(inFlight)]: { ...known, atMs: inFlightAtMs } },
        ...more,
      },
      { ...gated, state: { ...gated.state, stuck } as DeployState },
    );
    return decision.kind === 'act' ? decision.effect.kind : decision.kind;
  };
  assert.equal(told(laterBy(10).monotonicMs), 'hold-route');
  assert.equal(told(laterBy(-10).monotonicMs), 'hold-route', 'nobody was asked behind it');
  assert.equal(told(laterBy(500).monotonicMs), 'end-process', 'a proxy that is slow over its answer');
  const ending = { running: ['end-process act-old'] };
  assert.equal(told(laterBy(10).monotonicMs, ending), 'wait', 'it was asked to end');
});

test('I1: a launcher that became the program before its grant is granted nothing', () => {
  assert.equal(asked([hold, 'held'], gone, [look, CANDIDATE.observed]), 'autopsy');
  assert.equal(asked([hold, 'held'], gone, [look, null]), 'end-process');
});

test('I2: behind the gate the program is observed and published again before anything rests on it', () => {
  const open: Effect = { kind: 'open-channel', handle: CANDIDATE.handle };
  const grant: Effect = { kind: 'grant', grant: { activation: 'act-new', stateId: 'app-state', epoch: 5 } };
  const published = (observed: typeof atGate.observed | typeof CANDIDATE.observed): Effect => ({
    kind: 'publish-activation',
    document: CANDIDATE.document,
    observed,
  });
  const granted = (...more: Given) =>
    step(
      {
        plans: GATED,
        rows: seen(rows(5, 'act-new')),
        answers: answered([open, 'open'], [grant, 'delivered'], ...more),
      },
      gated,
    );
  const first = granted([published(atGate.observed), 'acknowledged'], [look, CANDIDATE.observed]);
  assert.deepEqual(first.kind === 'act' ? first.effect : null, published(CANDIDATE.observed));
  const then = granted([look, CANDIDATE.observed], [published(CANDIDATE.observed), 'acknowledged']);
  assert.ok(then.kind === 'persist' && 'passage' in then.state);
  assert.deepEqual(then.state.passage?.successor.launch, CANDIDATE);
  const other = { ...CANDIDATE.observed, executable: OLD.release.executableDigest };
  const wrong = granted([look, other]);
  assert.equal(wrong.kind === 'act' ? wrong.effect.kind : wrong.kind, 'autopsy');
});

test('I7: a rehearsal is asked for once the build is sealed, before the freeze is read', () => {
  const sealed = transaction({ phase: 'sealed', plan: NEW.subject.plan, subject: NEW.subject });
  const plans = plansWith({ rehearsal: { timeoutMs: 1_000, copyLimitBytes: 1 } });
  const first = step({ plans }, sealed);
  assert.equal(first.kind === 'act' ? first.effect.kind : null, 'rehearse');
  const effect: Effect = { kind: 'rehearse', subject: NEW.subject };
  const passed = step({ plans, freeze: absent, answers: answered([effect, { tookMs: 40 }]) }, sealed);
  assert.ok(passed.kind === 'persist' && passed.state.phase === 'expected-published');
  assert.equal(passed.foreignMs, 40);
});

test('F2: who waits for a program that knows nothing of Idunn is told what is asked of it, and how long', () => {
  const slots = { 'act-new': alive(CANDIDATE) };
  const starting = transaction({
    phase: 'activation-observed',
    subject: NEW.subject,
    launch: { ...CANDIDATE, step: 'current' },
  });
  const open: Effect = { kind: 'open-channel', handle: CANDIDATE.handle };
  const probed = step({ plans: GATED, slots, answers: answered([open, 'open']) }, starting);
  assert.equal(probed.kind === 'wait' ? probed.what : probed.kind, 'the first good reading of its probe');
  assert.match(probed.kind === 'wait' ? probed.remedy : '', /idunn status shows its last reading/);
  const sealed = transaction({ phase: 'sealed', plan: NEW.subject.plan, subject: NEW.subject });
  const plans = plansWith({ rehearsal: { timeoutMs: 30_000, copyLimitBytes: 1 } });
  const rehearsed = step({ plans, running: ['rehearse'] }, sealed);
  assert.match(rehearsed.kind === 'wait' ? rehearsed.what : rehearsed.kind, /unless it is well within 30 s$/);
});

test('I9: one that the row never named wrote nothing: what served comes back, whatever schema that accepts', () => {
  const next = buildOf('new', 'events-v2');
  const plans = { ...ALONE, [next.subject.plan]: { ...next.plan, ...stopping } };
  const { move } = HANDOVER.passage;
  const successor = { subject: next.subject, launch: CANDIDATE };
  const from = move?.from ?? assert.fail();
  const launched = transaction({
    ...HANDOVER,
    passage: { ...HANDOVER.passage, successor, move: { from, to: from }, relaunches: 1, spent: ['act-first'] },
  });
  const lastWords: Effect = { kind: 'autopsy', activation: 'act-new', word: null };
  const late = {
    plans,
    now: laterBy(60_000),
    answers: answered([lastWords, { exit: null, log: [], presence: null, reading: null }]),
    slots: { 'act-new': alive(CANDIDATE) },
  };
  const back = step(late, launched);
  assert.ok(back.kind === 'persist' && back.state.phase === 'returning');
  assert.equal(back.state.passage?.successor.subject.incarnation, OLD.subject.incarnation);
  const unread = step({ ...late, rows: unknown('I/O error') }, launched);
  assert.ok(unread.kind === 'persist' && unread.state.phase === 'incumbent-fenced');
  assert.equal(unread.result?.outcome, 'operator-required', 'a row that cannot be read may have named it');
});
