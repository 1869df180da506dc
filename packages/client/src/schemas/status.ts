import { z } from 'zod';
import { fault, incarnationKey, instant, rollout, waitNote } from './common.ts';

export const presenceState = z.enum(['warming', 'active', 'degraded', 'failed']);

const incarnation = z.object({
  incarnation: incarnationKey,
  role: z.enum(['admitted', 'candidate', 'draining']),
  expected: z.object({ release: z.string(), build: z.string(), revision: z.string() }),
  activation: z.string().nullable(),
  present: z
    .object({
      state: presenceState,
      sequence: z.int(),
      observedAt: instant,
      /** False when the presence is older than its contract allows; it then counts for nothing. */
      fresh: z.boolean(),
    })
    .nullable(),
  ready: z.object({ receipt: z.string(), observedAt: instant }).nullable(),
  disagreements: z.array(z.object({ code: z.string(), detail: z.string() })),
});

const transaction = z.object({
  id: z.string(),
  kind: z.string(),
  phase: z.string(),
  since: instant,
  waitingOn: waitNote.nullable(),
});

/** One word for a target, derived from everything below it. Never a guess: `unknown` is a word of its own. */
export const targetHealth = z.enum([
  'never-run',
  'down',
  'deploying',
  'waiting',
  'healthy',
  'degraded',
  'unhealthy',
  'unknown',
]);

const incident = z.object({
  code: z.string(),
  subject: z.string(),
  since: instant,
  detail: z.string(),
  remedy: z.string(),
});

const stop = z.object({ by: z.string(), reason: z.string(), since: instant, clearedBy: z.string() });

export const targetStatus = z.object({
  target: z.string(),
  health: targetHealth,
  desired: z.enum(['up', 'down']),
  admitted: z
    .object({
      incarnation: incarnationKey,
      release: z.string(),
      build: z.string(),
      revision: z.string(),
      activation: z.string(),
      processes: z.array(z.object({ pid: z.int() })),
      admittedAt: instant,
    })
    .nullable(),
  incarnations: z.array(incarnation),
  /** `null` where the target has no state under a lease. */
  lease: z
    .object({ epoch: z.int(), activation: z.string().nullable(), state: z.enum(['held', 'revoked', 'none']) })
    .nullable(),
  /** `null` where the target has no route. */
  route: z
    .object({
      endpoint: z.string(),
      members: z.array(z.object({ incarnation: incarnationKey, backend: z.string() })),
      certificates: z.array(z.object({ file: z.string(), names: z.array(z.string()), expiresAt: instant.nullable() })),
    })
    .nullable(),
  /** Its activations that the attendant speaks for, each with what was read last. */
  attended: z.array(
    z.object({
      activation: z.string(),
      state: presenceState.nullable(),
      /** Readings of the newest kind in a row. */
      inARow: z.int(),
      reading: z
        .object({
          good: z.boolean(),
          said: z.string(),
          status: z.int().nullable(),
          body: z.string().nullable(),
          tookMs: z.number(),
          readAt: instant,
        })
        .nullable(),
    }),
  ),
  /** The user of the admitted process and how far that separates it; left out where it is the daemon's own. */
  runsAs: z.exactOptional(z.object({ uid: z.int(), separation: z.enum(['user-per-target', 'user-per-workload']) })),
  static: z.null(),
  /** Of what is admitted. */
  rollout: rollout.nullable(),
  transaction: transaction.nullable(),
  queued: z.array(z.object({ transaction: z.string(), actor: z.string(), since: instant })),
  continuity: z.object({ streak: z.int(), nextAttemptAt: instant.nullable() }),
  freezes: z.array(stop),
  hold: stop.nullable(),
  incidents: z.array(incident),
});

export const status = z.object({
  schema: z.literal('idunn.status/v1'),
  fleet: z.string(),
  machine: z.string(),
  /** The fleet's directory on the daemon's machine. */
  directory: z.string(),
  daemon: z.object({ version: z.string(), pid: z.int(), startedAt: instant }),
  /**
   * How far I1 and I2 reach here, by the target that is separated least. `same-user`: against crashes and bugs, not
   * against a hostile workload. `user-per-target`: against those of other targets, not between a candidate and its own
   * incumbent. `user-per-workload`: against every workload.
   */
  separation: z.enum(['same-user', 'user-per-target', 'user-per-workload']),
  /** Mistakes in the fleet's files; what they are about cannot be planned until they are corrected. */
  faults: z.array(fault),
  /** Open incidents of the whole fleet; those of a target stand with it. */
  incidents: z.array(incident),
  targets: z.array(targetStatus),
});

export type IncarnationStatus = z.infer<typeof incarnation>;
export type TargetHealth = z.infer<typeof targetHealth>;
export type TargetStatus = z.infer<typeof targetStatus>;
export type Status = z.infer<typeof status>;
