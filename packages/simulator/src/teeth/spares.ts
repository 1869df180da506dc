import {
  type ContinuityDecision,
  type ContinuityEvidence,
  type Decision,
  type DeployEvidence,
  decide,
  decideContinuity,
  type TransactionRecord,
} from '@idunn/authority';
import { type Evidence, seen } from '@idunn/kernel';
import { CALM, diesOnce, type Scenario } from '../scenario.ts';
import type { TargetShape } from '../world/sources.ts';
import type { Tooth } from './tooth.ts';

const ROWS: TargetShape = { stores: 1, routed: true };

/** Rows as they would be had nobody but the one on duty held the lease. */
function asOnDuty({ rows, target }: ContinuityEvidence): ContinuityEvidence['rows'] {
  const body = target.stranded ?? target.admitted;
  if (body === null || rows.kind === 'absent') return rows;
  const { activation } = body.document;
  const row = { stateId: '', epoch: 1, activation, release: null, stateSchema: '', nonce: null };
  const all = rows.kind === 'seen' ? rows.value : { 'store-0': row };
  return seen(Object.fromEntries(Object.entries(all).map(([store, one]) => [store, { ...one, activation }])));
}

const wasRead = (rows: Evidence<unknown>): boolean => rows.kind !== 'unknown' || rows.because !== 'not read';

/** I1: launches what it minted ahead, whomever the row names. */
const whateverTheRow = (e: ContinuityEvidence): ContinuityDecision =>
  decideContinuity(wasRead(e.rows) ? { ...e, rows: asOnDuty(e) } : e);

/** I1: launches what it minted ahead where it cannot read whom the row names. */
const withoutTheRow = (e: ContinuityEvidence): ContinuityDecision =>
  decideContinuity(e.rows.kind === 'unknown' && wasRead(e.rows) ? { ...e, rows: asOnDuty(e) } : e);

/** I5: clears a spare away, and is kept from writing that down until its release is admitted again. */
function withoutNote(e: ContinuityEvidence): ContinuityDecision {
  const decision = decideContinuity(e);
  const spare = decision.kind === 'persist' ? decision.record.spare : null;
  if (spare?.leaving !== true) return decision;
  const effect = { kind: 'retire', activation: spare.activation } as const;
  const isCleared = e.answers[`retire ${spare.activation}`] !== undefined;
  return isCleared ? { kind: 'rest', ...NOTHING_AMISS } : { kind: 'act', effect };
}
const NOTHING_AMISS = { concerns: [], wait: null, wakeAtMs: null, attemptAtMs: null };

/** I10: takes a launch that was refused, because it had been made before, for one that ran and ended. */
function asExited(tx: TransactionRecord, e: DeployEvidence): Decision {
  const answers = Object.entries(e.answers).map(([key, answered]) => {
    const { outcome } = answered;
    const isSpent = !outcome.ok && outcome.refusal.code === 'activation-spent';
    return [key, isSpent ? { ...answered, outcome: { ok: true as const, value: null } } : answered] as const;
  });
  return decide(tx, { ...e, answers: Object.fromEntries(answers) });
}

/** The spare was launched since the records were copied, and serves. */
const launchedSince: Scenario = { ...diesOnce('good', ROWS), restored: { takenAtMs: 600, atMs: 2_000 } };
const unreadable: Scenario = {
  ...launchedSince,
  unreadable: [{ what: 'lease', target: 'app', fromMs: 1_990, untilMs: 4_000 }],
};

/** Its build gives way to another, and comes back under an engine that remembers nothing. */
const thereAndBack: Scenario = {
  ...CALM,
  seed: 1,
  shapes: { app: ROWS },
  deploys: [1, 2, 1].map((revision, at) => ({ target: 'app', atMs: 10 + at * 300, behaviour: 'good', revision })),
  strikes: [{ kind: 'deploy', phase: 'sealed', fault: 'daemon-killed' }],
};

/** The spare was cleared away since the records were copied, and nothing lives when they are put back. */
const clearedSince: Scenario = {
  ...CALM,
  seed: 1,
  shapes: { app: { stores: 0, routed: true, alone: true } },
  deploys: [
    { target: 'app', atMs: 10, behaviour: 'good', revision: 1 },
    { target: 'app', atMs: 400, behaviour: 'good', revision: 2 },
  ],
  holds: [{ target: 'app', fromMs: 900, untilMs: 2_100, unreadable: false }],
  kills: [{ target: 'app', atMs: 1_000 }],
  restored: { takenAtMs: 300, atMs: 2_000 },
};

/** What was minted ahead is launched once, by whoever may know that nobody has. */
export const TEETH_OF_SPARES: readonly Tooth[] = [
  {
    name: 'launches a spare whomever the row names',
    breaks: 'I1',
    scenario: launchedSince,
    decideContinuity: whateverTheRow,
  },
  { name: 'launches a spare over an unread row', breaks: 'I1', scenario: unreadable, decideContinuity: withoutTheRow },
  { name: 'forgets which spare it cleared away', breaks: 'I5', scenario: thereAndBack, decideContinuity: withoutNote },
  { name: 'takes a launch that was spent for an exit', breaks: 'I10', scenario: clearedSince, decide: asExited },
];
