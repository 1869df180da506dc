import { type Refusal, refusal } from '@idunn/kernel';
import { launchOf } from '../records/body.ts';
import type { Passage } from '../records/passage.ts';
import type { DeployState } from '../records/transaction.ts';
import { spend } from './clearing.ts';
import { conclude, type Decision } from './decision.ts';
import type { DeployEvidence } from './evidence.ts';
import { holderIn } from './passage.ts';
import type { Whereabouts } from './passage-frame.ts';

/**
 * A later command replaces what neither finishes nor returns (F22). A launch that holds the lease stays as the next
 * one's incumbent; one that does not is ended first, so that the row names a process that is proven gone. Whoever the
 * row names is left as stranded, dead or alive: if nobody replaces it, continuity brings it back (I9). Who was stranded
 * before it is in no record then, and is ended first too (F16).
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
  const stranded = holderIn(e, passage) ?? e.target.stranded;
  const ended = (): Decision => conclude(state, outcome, about, { target: { stranded, takenBy: null } });
  const before = e.target.stranded;
  const isLeft = before !== null && before.document.activation !== stranded?.document.activation;
  const over = (): Decision => (isLeft ? spend(e, { launch: launchOf(before), graceMs }, ended) : ended());
  if (where.at === 'granted' && launch.step === 'current') return over();
  return spend(e, { launch, graceMs }, over);
}

/** Somebody waits behind a transaction that is stuck. */
export const isSuperseded = (e: DeployEvidence, stuck: Refusal | null): stuck is Refusal =>
  stuck !== null && e.target.queue.length > 1;
