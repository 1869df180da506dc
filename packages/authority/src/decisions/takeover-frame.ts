import type { Refusal } from '@idunn/kernel';
import type { Plan } from '@idunn/release';
import type { TransactionRecord } from '../records/transaction.ts';
import type { Decision, ExtraWrite } from './decision.ts';
import type { DeployEvidence } from './evidence.ts';

/** What a takeover knows, whomever it sets aside. */
export interface TakeoverFrame {
  readonly tx: TransactionRecord;
  readonly e: DeployEvidence;
  readonly plan: Plan;
  /** What the operator typed. */
  readonly confirm: string;
  readonly untilMs: number | null;
  readonly reject: (why: Refusal) => Decision;
  /** The takeover is recorded, and over. */
  readonly done: (record: ExtraWrite) => Decision;
}
