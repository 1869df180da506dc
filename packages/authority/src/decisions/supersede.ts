import { type Refusal, refusal } from '@idunn/kernel';
import { bodyOf } from '../records/body.ts';
import type { Passage } from '../records/passage.ts';
import type { DeployState } from '../records/transaction.ts';
import { endProcess } from './clearing.ts';
import { conclude, type Decision } from './decision.ts';
import type { DeployEvidence } from './evidence.ts';
import type { Whereabouts } from './passage-frame.ts';

/**
 * A later command replaces what neither finishes nor returns (F22). A launch that holds the lease stays as the next
 * one's incumbent; one that does not is ended first, so that the row names a process that is proven gone.
 */
export function supersede(
  e: DeployEvidence,
  state: DeployState,
  passage: Passage,
  where: Whereabouts,
  why: Refusal,
  graceMs: number,
  outcome: 'operator-required' | 'aborted' = 'operator-required',
): Decision {
  const { subject, launch } = passage.successor;
  const about = {
    incarnation: subject.incarnation,
    revision: subject.revision,
    refusal: refusal(why.code, why.reason, { remedy: why.remedy }),
  };
  if (where.at === 'granted' && launch.step === 'current') {
    const stranded = bodyOf(subject, launch, where.epoch, passage.echoed.includes(launch.id));
    return conclude(state, outcome, about, { target: { stranded, takenBy: null } });
  }
  return endProcess(e, { launch, graceMs, proven: false }, () =>
    conclude(state, outcome, about, { target: { stranded: null, takenBy: null } }),
  );
}

/** Somebody waits behind a transaction that is stuck. */
export const isSuperseded = (e: DeployEvidence, stuck: Refusal | null): stuck is Refusal =>
  stuck !== null && e.target.queue.length > 1;
