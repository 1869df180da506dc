import type { Digest, KeyRecord } from '@idunn/kernel';
import type { Plan } from '../model/plan.ts';

/** Serializable: it is carried to a thread. */
export interface AuditRequest {
  /** The release's directory, absolute. */
  readonly directory: string;
  readonly release: Digest;
  readonly plan: Plan;
  /** The fleet's authority keys, retired ones too. */
  readonly keys: readonly KeyRecord[];
  readonly sealedAtMs: number;
}
