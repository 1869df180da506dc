import type { RouteMember } from '@idunn/authority';
import type { RouteContract } from '@idunn/release';
import { z } from 'zod';
import { LIMITS } from '../limits.ts';

const port = z.int().min(1).max(65_535);
const name = z.string().min(1).max(256);

export const contractSchema: z.ZodType<RouteContract> = z.strictObject({
  name,
  listen: z.strictObject({ host: name, port }),
  protocol: z.literal('http'),
  holdMs: z.int().min(0).max(LIMITS.contractHoldMs),
  holdRequests: z.int().min(0).max(LIMITS.contractHoldRequests),
  holdBytes: z.int().min(0).max(LIMITS.contractHoldBytes),
});

const incarnation = z.custom<RouteMember['incarnation']>(
  (value) => typeof value === 'string' && /^.{1,256}@sha256:[0-9a-f]{64}$/.test(value),
  'is no incarnation key',
);

export const membersSchema: z.ZodType<readonly RouteMember[]> = z
  .array(z.strictObject({ incarnation, activation: name, backend: z.strictObject({ host: name, port }) }))
  .max(LIMITS.membersPerRoute)
  .readonly();

const snapshotSchema = z.strictObject({
  stage: z.string().regex(/^stage-[0-9a-f]{64}$/),
  generation: z.int().min(1),
  contract: contractSchema,
  members: membersSchema,
});

/** The state file. `sequence` is the number of the last journal entry that it includes. */
export const stateSchema = z.strictObject({
  schema: z.literal('idunn.router-state/v1'),
  fleet: name,
  sequence: z.int().min(0),
  generationFloor: z.int().min(0),
  routes: z
    .array(
      z.strictObject({
        route: name,
        target: name,
        served: snapshotSchema.nullable(),
        staged: snapshotSchema.nullable(),
      }),
    )
    .max(LIMITS.routes),
});

export type RouterState = z.infer<typeof stateSchema>;

/** One line of the journal: the staged snapshot of this id is served from here on. */
export const markerSchema = z.strictObject({ sequence: z.int().min(1), route: name, stage: z.string() });

export type Marker = z.infer<typeof markerSchema>;

/** Every fault of a value as one line, each with its path. */
export const faultsOf = (error: z.ZodError): string =>
  error.issues.map((issue) => `${issue.path.join('.') || 'value'}: ${issue.message}`).join('; ');
