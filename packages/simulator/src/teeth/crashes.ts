import { type Decision, type DeployEvidence, decide, type Phase, type TransactionRecord } from '@idunn/authority';
import { type Scenario, twoDeploys } from '../scenario.ts';
import type { Tooth } from './tooth.ts';

/** I6: does the next thing first, and writes down afterwards that it was about to. */
const beforeItIsDurable =
  (phase: Phase): typeof decide =>
  (tx, e) => {
    // It would be written with the same names the next time round.
    const [activation, request] = [`act-of-${tx.id}`, `req-of-${tx.id}`];
    const named = tx.state.phase === phase ? e : { ...e, fresh: { ...e.fresh, activation, request } };
    const decision = decide(tx, named);
    if (decision.kind !== 'persist' || decision.state.phase !== phase) return decision;
    const next = decide({ ...tx, state: decision.state }, named);
    return next.kind === 'act' ? next : decision;
  };

/** A launch that runs and that this engine never started. */
function isAnothers({ state }: TransactionRecord, e: DeployEvidence): boolean {
  if (!('launch' in state) || state.phase === 'aborting' || state.launch.step !== 'current') return false;
  return e.answers[`start ${state.launch.id}`] === undefined;
}

/** I6: takes its own death for one of the machine, and what it launched for gone with it. */
const asAfterReboot = (tx: TransactionRecord, e: DeployEvidence): Decision =>
  decide(tx, isAnothers(tx, e) ? { ...e, now: { ...e.now, bootId: 'another boot' } } : e);

/** I6: ends what another engine had begun (F17). */
function withoutHeirs(tx: TransactionRecord, e: DeployEvidence): Decision {
  const startedAt = { ...tx.clock.startedAt, monotonicMs: Number.MIN_SAFE_INTEGER };
  return decide(isAnothers(tx, e) ? { ...tx, clock: { ...tx.clock, startedAt } } : tx, e);
}

/** I6: tells complete what it has not seen to end (F15). */
function withoutExits(tx: TransactionRecord, e: DeployEvidence): Decision {
  const { state } = tx;
  return decide(state.phase === 'draining' ? { ...tx, state: { ...state, leaving: [] } } : tx, e);
}

const killedIn = (phase: Phase): Scenario => ({
  ...twoDeploys('good'),
  strikes: [{ kind: 'deploy', phase, fault: 'daemon-killed' }],
});

/** What a death of Idunn leaves behind, and what is told to be over. */
export const TEETH_OF_CRASHES: readonly Tooth[] = [
  {
    name: 'mints before it is written down',
    breaks: 'I6',
    scenario: twoDeploys('good'),
    decide: beforeItIsDurable('activation-issued'),
  },
  {
    name: 'fences before it is written down',
    breaks: 'I6',
    scenario: twoDeploys('good'),
    decide: beforeItIsDurable('incumbent-fenced'),
  },
  { name: 'launches anew after its death', breaks: 'I6', scenario: killedIn('warming'), decide: asAfterReboot },
  { name: 'ends what another began', breaks: 'I6', scenario: killedIn('warming'), decide: withoutHeirs },
  { name: 'tells complete too early', breaks: 'I6', scenario: twoDeploys('good'), decide: withoutExits },
];
