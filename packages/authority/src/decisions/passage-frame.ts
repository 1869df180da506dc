import type { Refusal } from '@idunn/kernel';
import type { Plan } from '@idunn/release';
import type { Passage, Standing } from '../records/passage.ts';
import type { TransactionRecord } from '../records/transaction.ts';
import type { Decision } from './decision.ts';
import type { Confirmation } from './effects.ts';
import type { DeployEvidence } from './evidence.ts';

/** What the two directions of a passage do differently. The steps between are one and the same. */
export interface PassageFrame {
  readonly tx: TransactionRecord;
  readonly e: DeployEvidence;
  readonly passage: Passage;
  readonly plan: Plan;
  readonly untilMs: number | null;
  /** There is no other way to go: whatever fails is ended and launched anew, for ever (I9). */
  readonly persistent: boolean;
  /** Called instead of another launch in this passage: continuity launches by a transaction of its own each time. */
  readonly ended?: (why: Refusal) => Decision;
  /** Makes a changed passage durable. */
  readonly keep: (passage: Passage, more?: Kept) => Decision;
  /** Called when it cannot go on this way. `fenced`: false while nothing has moved and the predecessor may go on. */
  readonly giveUp: (why: Refusal, fenced: boolean) => Decision;
  /** Both authorities were seen to name the successor; records must follow before the fence clears. */
  readonly arrived: (epoch: number | null) => Decision;
  readonly confirmed: (epoch: number | null, confirmation: Confirmation) => Decision;
}

/** What becomes durable with a passage: the id of a launch that begins with it, a new epoch, time that was not ours. */
export interface Kept {
  readonly issued?: string;
  readonly highestEpoch?: number;
  readonly foreignMs?: number;
}

/** Where the lease row says that the passage stands. */
export type Whereabouts =
  | { readonly at: 'granted'; readonly epoch: number | null }
  /** The row reads as it did when the move was intended. */
  | { readonly at: 'before-move'; readonly row: Standing }
  | { readonly at: 'moving' }
  /** The successor was relaunched: a new move is to be intended once it warms. */
  | { readonly at: 'relaunched'; readonly row: Standing | null }
  | { readonly at: 'unreadable'; readonly detail: string };
