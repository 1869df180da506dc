import type { RecordKey, RecordKind, Space } from '@idunn/kernel';
import type { z } from 'zod';
import { incarnationRecordSchema, planRecordSchema } from './content.ts';
import { continuitySchema } from './continuity.ts';
import { incidentSchema } from './incident.ts';
import { activationSchema, operationSchema, setAsideSchema, takeoverSchema } from './operation.ts';
import { readyProofSchema } from './proof.ts';
import { receiptsSchema } from './receipts.ts';
import { stopSeenSchema } from './stop-seen.ts';
import { desiredSchema, targetSchema } from './target.ts';
import { transactionSchema } from './transaction.ts';

const kinds = {
  desired: { space: 'catalogue', schemas: { 'idunn.desired/v1': desiredSchema } },
  operation: { space: 'catalogue', schemas: { 'idunn.operation/v1': operationSchema } },
  receipts: { space: 'catalogue', schemas: { 'idunn.receipts/v1': receiptsSchema } },
  takeover: { space: 'catalogue', schemas: { 'idunn.takeover/v1': takeoverSchema } },
  target: { space: 'journal', schemas: { 'idunn.target/v1': targetSchema } },
  transaction: { space: 'journal', schemas: { 'idunn.transaction/v1': transactionSchema } },
  activation: { space: 'journal', schemas: { 'idunn.issued-activation/v1': activationSchema } },
  'set-aside': { space: 'journal', schemas: { 'idunn.set-aside/v1': setAsideSchema } },
  continuity: { space: 'journal', schemas: { 'idunn.continuity/v1': continuitySchema } },
  incident: { space: 'journal', schemas: { 'idunn.incident/v1': incidentSchema } },
  stop: { space: 'journal', schemas: { 'idunn.stop-seen/v1': stopSeenSchema } },
  'ready-proof': { space: 'journal', schemas: { 'idunn.ready-proof/v1': readyProofSchema } },
  plan: { space: 'journal', schemas: { 'idunn.plan-record/v1': planRecordSchema } },
  incarnation: { space: 'journal', schemas: { 'idunn.incarnation/v1': incarnationRecordSchema } },
} as const satisfies Record<string, { space: Space; schemas: Record<string, z.ZodType> }>;

export type KindName = keyof typeof kinds;
type Schemas<K extends KindName> = (typeof kinds)[K]['schemas'];
export type RecordOf<K extends KindName> = z.infer<Extract<Schemas<K>[keyof Schemas<K>], z.ZodType>>;

/** Every record kind of this room, with each version that a reader still knows; what the store is opened with. */
export const RECORD_KINDS: readonly RecordKind[] = Object.entries(kinds).map(([kind, { space, schemas }]) => ({
  space,
  kind,
  versions: schemas as unknown as RecordKind['versions'],
}));

export const keyOf = (kind: KindName, id: string): RecordKey => ({ space: kinds[kind].space, kind, id });
