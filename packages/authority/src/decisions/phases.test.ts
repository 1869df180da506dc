import assert from 'node:assert/strict';
import { test } from 'node:test';
import { absent, digestJson, refusal, seen, unknown } from '@idunn/kernel';
import { PHASES, type Phase } from '../model/phase.ts';
import { bodyOf } from '../records/body.ts';
import type { DeployState, TransactionRecord } from '../records/transaction.ts';
import {
  alive,
  answered,
  CANDIDATE,
  evidence,
  FREEZE,
  HANDOVER,
  INCUMBENT,
  launchOf,
  NEW,
  NOW,
  OLD,
  PREPARED,
  routeTo,
  rows,
  transaction,
  word,
} from '../testing/samples.ts';
import { decide } from './decide.ts';
import type { Decision } from './decision.ts';
import { type Effect, effectKey } from './effects.ts';
import type { DeployEvidence } from './evidence.ts';

/** The phases of a deployment, row by row: what must be seen to leave each, and what of it may not be missing. */
interface Row {
  readonly phase: Phase;
  readonly state: DeployState;
  /** Everything that must be seen. */
  readonly seen: Partial<DeployEvidence>;
  /** The same world with one thing missing, by what is missing. */
  readonly without: Readonly<Record<string, Partial<DeployEvidence>>>;
}

const { subject } = NEW;
const { plan } = subject;
const minted = { step: 'minted', id: 'act-new', document: CANDIDATE.document } as const;
const observed = { ...CANDIDATE, step: 'observed' } as const;
const old = launchOf(OLD, 'act-old', 11);
const both = (candidate: Parameters<typeof alive>[1], launch = CANDIDATE) => ({
  'act-old': alive(old),
  'act-new': alive(launch, candidate),
});

const refused = (effect: Effect, code: Parameters<typeof refusal>[0]): DeployEvidence['answers'] => ({
  [effectKey(effect)]: {
    effect,
    outcome: { ok: false, refusal: refusal(code, 'It is so.') },
    atMs: NOW.monotonicMs,
    attempts: 1,
  },
});
const planned: Effect = { kind: 'plan', ref: null };
const publishExpected: Effect = { kind: 'publish-expected', subject };
const granted = answered(
  [{ kind: 'open-channel', handle: CANDIDATE.handle }, 'open'],
  [{ kind: 'grant', grant: { activation: 'act-new', stateId: 'app-state', epoch: 5 } }, 'delivered'],
);
const present = { state: 'active' as const, epoch: 5, sequence: 4, observedAtMs: 0, fresh: true };
const receipt = { receipt: 'sha256:r', activation: 'act-new', epoch: 5, sequence: 4, observedAtMs: 0 };
const saying = (more: Parameters<typeof word>[2]) => both({ word: seen(word(NEW, 'act-new', more)) });
const serving = { rows: seen(rows(5, 'act-new')), answers: granted, slots: saying({ present, ready: receipt }) };
const probe = (status: number, incarnation = subject.incarnation) =>
  answered([
    { kind: 'observe-route', route: 'app', path: '/version' },
    { incarnation, status, body: null },
  ]);
const confirmed = (row: string, member = 'act-new', epoch = 5) =>
  answered([
    { kind: 'confirm', plan, activation: 'act-new' },
    { rows: rows(epoch, row), route: routeTo(member), report: null },
  ]);
const through = { ...serving, route: seen(routeTo('act-new')), answers: { ...granted, ...probe(200) } };
const leaving = bodyOf(NEW.subject, CANDIDATE, 5, true);
const ended: Effect = { kind: 'end-process', activation: 'act-old', handle: INCUMBENT.handle, graceMs: 100 };
const cleared = answered(
  [{ kind: 'open-requests', route: 'app', incarnation: INCUMBENT.incarnation, withinMs: 1_000 }, 0],
  [{ kind: 'demote', incarnation: INCUMBENT.incarnation, activation: 'act-old' }, 'acknowledged'],
  [{ kind: 'withdraw-expected', incarnation: INCUMBENT.incarnation }, 'acknowledged'],
  [{ kind: 'retire', activation: 'act-old' }, 'retired'],
);
const routeObserved: DeployState = { ...HANDOVER, phase: 'route-observed' };

const TABLE: readonly Row[] = [
  {
    phase: 'planned',
    state: { phase: 'planned' },
    seen: { answers: answered([planned, { plan: NEW.plan, fetchMs: 1 }]) },
    without: {
      'a plan': {},
      'an admitted one': { answers: refused(planned, 'not-admitted') },
      'a claim that can be read': {
        claim: unknown('I/O error'),
        answers: answered([planned, { plan: NEW.plan, fetchMs: 1 }]),
      },
    },
  },
  {
    phase: 'materialized',
    state: { phase: 'materialized', plan },
    seen: {
      answers: answered([
        { kind: 'materialize', plan },
        { stage: digestJson('stage'), fetchMs: 1 },
      ]),
    },
    without: {
      'the exact tree': {},
      'one that agrees': { answers: refused({ kind: 'materialize', plan }, 'stage-mismatch') },
    },
  },
  {
    phase: 'sealed',
    state: { phase: 'sealed', plan, subject },
    seen: {},
    without: {
      'a freeze that is absent': { freeze: seen(FREEZE) },
      'a freeze that can be read': { freeze: unknown('permission denied') },
      'the observer': { observer: unknown('its link is down') },
      'an observer that is admitted': { observer: absent },
    },
  },
  {
    phase: 'expected-published',
    state: { phase: 'expected-published', subject },
    seen: { answers: answered([publishExpected, 'acknowledged']) },
    without: {
      'the acknowledgement': {},
      'an observer that can be reached': { answers: refused(publishExpected, 'observer-unreachable') },
    },
  },
  {
    phase: 'activation-issued',
    state: { phase: 'activation-issued', subject, launch: { step: 'issued', id: 'act-new' } },
    seen: {
      answers: answered(
        [{ kind: 'prepare-lease', plan }, rows(4, 'act-old')],
        [{ kind: 'mint', subject, activation: 'act-new' }, CANDIDATE.document],
      ),
    },
    without: {
      'its credential': { answers: answered([{ kind: 'prepare-lease', plan }, rows(4, 'act-old')]) },
      'the lease rows': { answers: answered([{ kind: 'mint', subject, activation: 'act-new' }, CANDIDATE.document]) },
    },
  },
  {
    phase: 'candidate-started',
    state: { phase: 'candidate-started', subject, launch: minted },
    seen: { slots: both({}) },
    without: {
      'its process': { slots: both({ found: absent, process: absent }) },
      'a look for it': { slots: both({ found: unknown('no /proc') }) },
      'a look at it': { slots: both({ process: unknown('no permission') }) },
      'the executable': { slots: both({ process: seen({ ...CANDIDATE.observed, executable: digestJson('other') }) }) },
      'the packaged entry': {
        slots: both({
          process: seen({ ...CANDIDATE.observed, entry: { device: '1', inode: '2', digest: digestJson('other') } }),
        }),
      },
    },
  },
  {
    phase: 'activation-observed',
    state: { phase: 'activation-observed', subject, launch: CANDIDATE },
    seen: { slots: saying({}) },
    without: {
      'its signed word': { slots: both({ word: absent }) },
      'an observer that can be asked': { slots: both({ word: unknown('the link is down') }) },
      'a word of this activation': { slots: both({ word: seen(word(NEW, 'act-earlier')) }) },
      'a word that agrees': {
        slots: saying({ disagreements: [{ code: 'incarnation-mismatch', detail: 'Another.' }] }),
      },
    },
  },
  {
    phase: 'warming',
    state: { phase: 'warming', subject, launch: CANDIDATE },
    seen: { answers: PREPARED },
    without: {
      'the staged route, the nonce and the connections': {},
      'a freeze that is absent': { answers: PREPARED, freeze: seen(FREEZE) },
      'a freeze that can be read': { answers: PREPARED, freeze: unknown('permission denied') },
      'its process': { answers: PREPARED, slots: both({ found: absent, process: absent }) },
      'a look at its process': { answers: PREPARED, slots: both({ process: unknown('no permission') }) },
      'a word that is fresh': { answers: PREPARED, slots: both({ word: absent }) },
      'the observer': { answers: PREPARED, slots: both({ word: unknown('the link is down') }) },
      'the lease rows': { answers: PREPARED, rows: unknown('I/O error') },
      'a row that names somebody of ours': {
        answers: PREPARED,
        rows: seen(rows(7, 'act-stranger')),
        holder: { issued: false, found: unknown('not read') },
      },
      'the claim': { answers: PREPARED, claim: unknown('I/O error') },
    },
  },
  {
    phase: 'incumbent-fenced',
    state: HANDOVER,
    seen: { ...serving, answers: {}, slots: saying({}) },
    without: {
      'a row that moved': { answers: {} },
      'a row that can be read': { rows: unknown('I/O error') },
      'a row that is there': { rows: absent },
    },
  },
  {
    phase: 'write-lease-granted',
    state: HANDOVER,
    seen: { ...serving, slots: saying({ present }) },
    without: {
      'the delivery of the grant': { ...serving, answers: {}, slots: saying({ present }) },
      'its word': { ...serving, slots: both({ word: absent }) },
      active: { ...serving, slots: saying({}) },
      'active under that epoch': { ...serving, slots: saying({ present: { ...present, epoch: 4 } }) },
    },
  },
  {
    phase: 'ready-observed',
    state: HANDOVER,
    seen: serving,
    without: {
      'the receipt': { ...serving, slots: saying({ present }) },
      'one for this activation': {
        ...serving,
        slots: saying({ present, ready: { ...receipt, activation: 'act-old' } }),
      },
      'one for this epoch': { ...serving, slots: saying({ present, ready: { ...receipt, epoch: 4 } }) },
    },
  },
  {
    phase: 'route-published',
    state: HANDOVER,
    seen: { ...serving, route: seen(routeTo('act-new')) },
    without: {
      'the proxy’s answer': serving,
      'a route that names it': { ...serving, route: seen(routeTo('act-old')) },
      'a route that can be read': { ...serving, route: unknown('the router does not answer') },
    },
  },
  {
    phase: 'route-observed',
    state: HANDOVER,
    seen: through,
    without: {
      'a look through the proxy': { ...through, answers: granted },
      'a good answer': { ...through, answers: { ...granted, ...probe(301) } },
      'an answer of the new member': { ...through, answers: { ...granted, ...probe(200, INCUMBENT.incarnation) } },
      'a presence that is still active': { ...through, slots: saying({ ready: receipt }) },
    },
  },
  {
    phase: 'fence-cleared',
    state: routeObserved,
    seen: { ...through, answers: { ...through.answers, ...confirmed('act-new') } },
    without: {
      'lease and route, each read again': through,
      'a lease that names it': { ...through, answers: { ...through.answers, ...confirmed('act-old') } },
      'a lease of this epoch': { ...through, answers: { ...through.answers, ...confirmed('act-new', 'act-new', 6) } },
      'a route that names it': { ...through, answers: { ...through.answers, ...confirmed('act-new', 'act-old') } },
    },
  },
  {
    phase: 'draining',
    state: { phase: 'draining', admitted: leaving, leaving: [INCUMBENT] },
    seen: { answers: { ...cleared, ...answered([ended, { kind: 'gone', proof: 'tree-empty', forced: false }]) } },
    without: {
      'its exit': { answers: cleared },
      'an exit that was seen': {
        answers: { ...cleared, ...answered([ended, { kind: 'unknown', because: 'no /proc' }]) },
      },
      'a driver that answers': { answers: { ...cleared, ...refused(ended, 'driver-fault') } },
    },
  },
];

/** Whether a decision leaves the phase: by its next state, or by the furthest phase that it sees to hold. */
function leaves(row: Row, { state }: TransactionRecord, decision: Decision): boolean {
  const at = PHASES.indexOf(row.phase);
  if (decision.kind !== 'persist') return PHASES.indexOf(decision.reached ?? row.phase) > at;
  const { state: next } = decision;
  // One of those that leave has left.
  if (state.phase === 'draining') return next.phase === 'draining' && next.leaving.length === 0;
  // Its record follows the hot path, and says that all of it was seen.
  if (row.phase === 'route-observed') return next.phase === 'route-observed';
  return (PHASES as readonly string[]).indexOf(next.phase) > at;
}

for (const row of TABLE) {
  test(`I6, I10: the phase ${row.phase} is left when everything is seen, and not without any of it`, () => {
    const record = transaction(row.state);
    const decided = (more: Partial<DeployEvidence>): boolean => leaves(row, record, decide(record, evidence(more)));
    assert.ok(decided(row.seen), JSON.stringify(decide(record, evidence(row.seen))));
    for (const [missing, more] of Object.entries(row.without)) assert.ok(!decided(more), `without ${missing}`);
  });
}

test('every phase that can be left has its row', () => {
  assert.deepEqual(
    TABLE.map(({ phase }) => phase),
    PHASES.filter((phase) => phase !== 'complete'),
  );
  assert.throws(() => decide(transaction({ phase: 'complete' }), evidence()), /decides nothing/);
});

test('the phase activation-observed waits for the observer to take the activation as current', () => {
  const record = transaction({ phase: 'activation-observed', subject, launch: observed });
  const slots = both({ word: seen(word(NEW, 'act-new')) });
  const published: Effect = { kind: 'publish-activation', document: CANDIDATE.document, observed: CANDIDATE.observed };
  assert.equal(decide(record, evidence({ slots })).kind, 'act');
  assert.equal(decide(record, evidence({ slots, answers: refused(published, 'observer-unreachable') })).kind, 'wait');
  const current = decide(record, evidence({ slots, answers: answered([published, 'acknowledged']) }));
  assert.ok(current.kind === 'persist' && 'launch' in current.state && current.state.launch?.step === 'current');
});
