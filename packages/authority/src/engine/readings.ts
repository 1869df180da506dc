import type { Plan } from '@idunn/release';
import type { Answered, AnswerTo, Effect } from '../decisions/effects.ts';
import type { DeployEvidence } from '../decisions/evidence.ts';
import type { SwapAnswer } from '../ports/lease-port.ts';
import type { TransactionRecord } from '../records/transaction.ts';
import type { Lane } from './lane.ts';
import { launchIn, readingsOf } from './witness.ts';

/**
 * Whether the next phase wants what was not read for the one before. The readings of `warming` are those that the
 * intent rests on; the handover goes on with them.
 */
export function wantsMore(before: TransactionRecord, next: TransactionRecord): boolean {
  if (before.state.phase === next.state.phase) return mayRunNow(before, next);
  // Something went wrong.
  if (next.state.phase === 'aborting' || next.state.phase === 'returning') return true;
  // Where the incumbent is stopped first, the intent rests on what is read here.
  if (next.state.phase === 'activation-issued') return true;
  const { reads } = readingsOf(before, null);
  return readingsOf(next, null).reads.some((reading) => !reads.includes(reading));
}

/** Nothing ran under an id that was only issued, and it was not looked for. */
const mayRunNow = (before: TransactionRecord, next: TransactionRecord): boolean =>
  launchIn(before)?.step === 'issued' && launchIn(next)?.step === 'minted';

/** The plan of the state, or in `planned` the one that was just compiled. */
export function planAtHand(lane: Lane, plans: DeployEvidence['plans']): Plan | null {
  const { state } = lane.tx;
  if (state.phase === 'planned') {
    const answer = lane.answers.get('plan');
    return answer?.outcome.ok === true ? (answer.outcome.value as AnswerTo<'plan'>).plan : null;
  }
  if ('plan' in state) return plans[state.plan] ?? null;
  if ('passage' in state && state.passage !== null) return plans[state.passage.successor.subject.plan] ?? null;
  if (state.phase === 'returning') return plans[state.candidate.subject.plan] ?? null;
  if ('subject' in state && state.subject !== null) return plans[state.subject.plan] ?? null;
  return null;
}

const QUIET: ReadonlySet<Effect['kind']> = new Set([
  'hold-route',
  'relinquish',
  'grant',
  'observe-route',
  'stage-route',
  'open-channel',
  'write-nonce',
  'echo',
  'write-claim',
  'confirm',
  'publish-activation',
  'observe-process',
  'in-flight',
]);

/** Whether what was read before may no longer hold. An uncertain answer always means that (F8). */
export function changesTheWorld(effect: Effect, { outcome }: Pick<Answered, 'outcome'>): boolean {
  if (!outcome.ok) return true;
  if (effect.kind === 'swap') return (outcome.value as SwapAnswer).kind !== 'swapped';
  // Nothing older can be published any more: only what is read from now on says whether it was.
  if (effect.kind === 'stage-route' && effect.members.length === 0) return true;
  return !QUIET.has(effect.kind);
}

/** Our own committed move is what the rows read; they are read again by themselves before the fence clears. */
export function moveInReadings(lane: Lane, effect: Extract<Effect, { kind: 'swap' }>): void {
  const readings = lane.readings;
  if (readings === null || readings.rows.kind !== 'seen') return lane.doubt();
  const { to } = effect.move;
  const rows = Object.entries(readings.rows.value).map(([store, row]) => [
    store,
    { ...row, ...to, release: effect.release, stateSchema: effect.stateSchema },
  ]);
  lane.readings = { ...readings, rows: { kind: 'seen', value: Object.fromEntries(rows) } };
}
