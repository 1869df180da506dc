import { z } from 'zod';
import { OUTCOMES } from '../model/phase.ts';
import { bodySchema, launchSchema, subjectSchema } from './body.ts';
import { passageSchema } from './passage.ts';
import { digestSchema, incarnationSchema, momentSchema, nameSchema, refusalSchema, requesterShape } from './words.ts';

const phase = <P extends string>(name: P) => ({ phase: z.literal(name) });
const candidate = { subject: subjectSchema, launch: launchSchema };

/** Nothing durable lies between these: the phase recorded is the intent's, the lease row says the rest. */
export const HANDOVER_PHASES = [
  'incumbent-fenced',
  'write-lease-granted',
  'ready-observed',
  'route-published',
  'route-observed',
] as const;

/** A deployment. Each state carries exactly what is known in it. */
export const deployStateSchema = z.discriminatedUnion('phase', [
  z.strictObject({ ...phase('queued') }),
  z.strictObject({ ...phase('planned') }),
  z.strictObject({ ...phase('materialized'), plan: digestSchema }),
  z.strictObject({ ...phase('sealed'), plan: digestSchema, subject: subjectSchema.nullable() }),
  z.strictObject({ ...phase('expected-published'), subject: subjectSchema }),
  z.strictObject({ ...phase('activation-issued'), ...candidate }),
  z.strictObject({ ...phase('candidate-started'), ...candidate }),
  z.strictObject({ ...phase('activation-observed'), ...candidate }),
  z.strictObject({ ...phase('warming'), ...candidate }),
  z.strictObject({
    phase: z.enum(HANDOVER_PHASES),
    passage: passageSchema,
    /** Set once the deadline passed and the way back is barred; the relaunching goes on. */
    stuck: refusalSchema.nullable(),
  }),
  /** Admitted; what was displaced leaves one by one. `fence-cleared` is the commit that entered here. */
  z.strictObject({ ...phase('draining'), admitted: bodySchema, leaving: z.array(bodySchema).max(8).readonly() }),
  z.strictObject({ ...phase('complete') }),
  z.strictObject({
    ...phase('aborting'),
    outcome: z.enum(['aborted', 'cancelled', 'expired']),
    why: refusalSchema,
    subject: subjectSchema.nullable(),
    launch: launchSchema.nullable(),
    /** Its processes were seen gone; from then on only records and files are left. */
    gone: z.boolean(),
    /** A handover that was begun and never committed: the incumbent is told to go on. */
    withdraw: z.strictObject({ activation: nameSchema.nullable(), requestId: nameSchema }).nullable(),
  }),
  z.strictObject({
    ...phase('returning'),
    why: refusalSchema,
    candidate: z.strictObject({ ...candidate, spent: z.array(nameSchema).max(64).readonly() }),
    /** `null` when there is nobody to return to: the row ends naming nobody. */
    passage: passageSchema.nullable(),
    /** The lease and the route are back; only the candidate is left to stop. */
    settled: z.boolean(),
    /** The candidate's processes were seen gone. */
    gone: z.boolean(),
    stuck: refusalSchema.nullable(),
  }),
]);
export type DeployState = z.infer<typeof deployStateSchema>;
export type StateOf<P extends DeployState['phase']> = Extract<DeployState, { phase: P }>;

export const resultSchema = z.strictObject({
  outcome: z.enum(OUTCOMES),
  incarnation: incarnationSchema.nullable(),
  revision: nameSchema.nullable(),
  durationMs: z.number().nonnegative(),
  ownMs: z.number().nonnegative(),
  writeGapMs: z.number().nullable(),
  requests: z.strictObject({
    held: z.int().nonnegative(),
    failed: z.int().nonnegative(),
    longestHoldMs: z.number().nonnegative(),
  }),
  refusal: refusalSchema.nullable(),
});

/** Entries of a transaction's own log; the oldest are dropped beyond it, the history keeps them all. */
export const PHASE_LOG_LIMIT = 64;
export const FREEZE_LOG_LIMIT = 32;

export const transactionSchema = z.strictObject({
  schema: z.literal('idunn.transaction/v1'),
  id: nameSchema,
  target: nameSchema,
  instance: nameSchema,
  machine: nameSchema,
  operation: nameSchema,
  ...requesterShape,
  request: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('up'), ref: nameSchema.nullable() }),
    z.strictObject({ kind: z.literal('takeover'), confirm: nameSchema }),
    /** The operator's: the same release as a new activation. */
    z.strictObject({ kind: z.literal('restart') }),
    /** Continuity's own. `stranded`: nothing is launched, and what serves without an admission is led to it. */
    z.strictObject({ kind: z.literal('continuity'), cause: z.enum(['died', 'failed', 'rebooted', 'stranded']) }),
  ]),
  /** An operator's word that ends it, durable before anything is undone. */
  withdrawal: z
    .strictObject({ kind: z.enum(['cancel', 'expire']), operation: nameSchema, ...requesterShape, at: momentSchema })
    .nullable(),
  intakeAt: momentSchema,
  /** When it left the queue; `null` before. */
  begunAt: momentSchema.nullable(),
  state: deployStateSchema,
  /** When the state's phase was entered, and the clock of its deadline. */
  since: momentSchema,
  clock: z.strictObject({
    startedAt: momentSchema,
    /** Stopped by a freeze since then (I8). */
    frozenSince: momentSchema.nullable(),
    pausedMs: z.number().nonnegative(),
  }),
  log: z
    .array(
      z.strictObject({
        phase: nameSchema,
        at: momentSchema,
        tookMs: z.number().nullable(),
        note: z.string().nullable(),
      }),
    )
    .max(PHASE_LOG_LIMIT)
    .readonly(),
  freezes: z
    .array(z.strictObject({ phase: nameSchema, record: digestSchema.nullable(), admittedAt: momentSchema.nullable() }))
    .max(FREEZE_LOG_LIMIT)
    .readonly(),
  /** Time that was not ours: queue, freezes, recipe steps, fetches, the program's own start. */
  foreignMs: z.number().nonnegative(),
  result: resultSchema.nullable(),
  ended: z.boolean(),
});

/** A transaction as it is taken in: nothing of it has begun. */
export const newTransaction = (
  about: Pick<
    TransactionRecord,
    'id' | 'target' | 'instance' | 'machine' | 'operation' | 'actor' | 'tenant' | 'request' | 'intakeAt'
  >,
): TransactionRecord => ({
  schema: 'idunn.transaction/v1',
  ...about,
  withdrawal: null,
  begunAt: null,
  state: { phase: 'queued' },
  since: about.intakeAt,
  clock: { startedAt: about.intakeAt, frozenSince: null, pausedMs: 0 },
  log: [],
  freezes: [],
  foreignMs: 0,
  result: null,
  ended: false,
});

export type TransactionRecord = z.infer<typeof transactionSchema>;
export type ResultRecord = z.infer<typeof resultSchema>;
