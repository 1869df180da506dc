import type { RouteMember } from '@idunn/authority';
import type { RouteContract } from '@idunn/release';
import { z } from 'zod';
import { LIMITS } from '../limits.ts';

const port = z.int().min(1).max(65_535);
const name = z.string().min(1).max(256);

const address = z.strictObject({ host: name, port });
const file = z.string().min(1).max(4_096).startsWith('/');

const holds = {
  holdMs: z.int().min(0).max(LIMITS.contractHoldMs),
  holdRequests: z.int().min(0).max(LIMITS.contractHoldRequests),
  holdBytes: z.int().min(0).max(LIMITS.contractHoldBytes),
};

export const contractSchema: z.ZodType<RouteContract> = z.strictObject({
  name,
  listen: address,
  protocol: z.enum(['http', 'tcp']),
  names: z.array(name.regex(/^[a-z0-9.*-]+$/)).max(LIMITS.namesPerRoute),
  tls: z
    .strictObject({
      certificates: z
        .array(z.strictObject({ certificate: file, key: file }))
        .min(1)
        .max(LIMITS.certificatesPerRoute),
    })
    .nullable(),
  redirect: address.nullable(),
  proxyProtocol: z.boolean(),
  idleMs: z.int().min(1).max(LIMITS.contractIdleMs),
  ...holds,
});

/** A contract as it was before routes had names, TLS and streams. */
const firstContract = z.strictObject({ name, listen: address, protocol: z.literal('http'), ...holds }).transform(
  (contract): RouteContract => ({
    ...contract,
    names: [],
    tls: null,
    redirect: null,
    proxyProtocol: false,
    idleMs: 3_600_000,
  }),
);

const incarnation = z.custom<RouteMember['incarnation']>(
  (value) => typeof value === 'string' && /^.{1,256}@sha256:[0-9a-f]{64}$/.test(value),
  'is no incarnation key',
);

export const membersSchema: z.ZodType<readonly RouteMember[]> = z
  .array(z.strictObject({ incarnation, activation: name, backend: z.strictObject({ host: name, port }) }))
  .max(LIMITS.membersPerRoute)
  .readonly();

/** `sequence` is the number of the last journal entry that the state includes. */
function stateOf<Contract extends z.ZodType<RouteContract>>(contract: Contract) {
  const snapshot = z.strictObject({
    stage: z.string().regex(/^stage-[0-9a-f]{64}$/),
    generation: z.int().min(1),
    contract,
    members: membersSchema,
  });
  const route = z.strictObject({
    route: name,
    target: name,
    served: snapshot.nullable(),
    staged: snapshot.nullable(),
  });
  return {
    fleet: name,
    sequence: z.int().min(0),
    generationFloor: z.int().min(0),
    routes: z.array(route).max(LIMITS.routes),
  };
}

export const STATE_SCHEMA = 'idunn.router-state/v2';

const current = z.strictObject({ schema: z.literal(STATE_SCHEMA), ...stateOf(contractSchema) });

export type RouterState = z.infer<typeof current>;

const first = z
  .strictObject({ schema: z.literal('idunn.router-state/v1'), ...stateOf(firstContract) })
  .transform((state): RouterState => ({ ...state, schema: STATE_SCHEMA }));

/** The state file, of this version or an earlier one; what is written is of this one. */
export const stateSchema: z.ZodType<RouterState> = z.union([current, first]);

/** One line of the journal: the staged snapshot of this id is served from here on. */
export const markerSchema = z.strictObject({ sequence: z.int().min(1), route: name, stage: z.string() });

export type Marker = z.infer<typeof markerSchema>;

/** Every fault of a value as one line, each with its path. */
export const faultsOf = (error: z.ZodError): string =>
  error.issues.map((issue) => `${issue.path.join('.') || 'value'}: ${issue.message}`).join('; ');
