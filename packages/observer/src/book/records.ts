import type { RecordKey, RecordKind } from '@idunn/kernel';
import { anchorRecordSchema, incarnationRecordSchema } from '@idunn/readiness';
import { z } from 'zod';

/** The observer's own progress: which run of it this is, and the authority's last request that it took. */
export const progressRecordSchema = z.strictObject({
  schema: z.literal('idunn.observer-progress/v1'),
  era: z.int().nonnegative(),
  requestSequence: z.int().nonnegative(),
});
export type ProgressRecord = Readonly<z.infer<typeof progressRecordSchema>>;

const SCHEMAS = {
  incarnation: incarnationRecordSchema,
  anchor: anchorRecordSchema,
  progress: progressRecordSchema,
} as const;

type KindName = keyof typeof SCHEMAS;

/** What the observer's store is opened with. */
export const OBSERVER_KINDS: readonly RecordKind[] = Object.entries(SCHEMAS).map(([kind, shape]) => ({
  space: 'journal',
  kind,
  versions: { [shape.shape.schema.value]: shape },
}));

export const recordKey = (kind: KindName, id: string): RecordKey => ({ space: 'journal', kind, id });
