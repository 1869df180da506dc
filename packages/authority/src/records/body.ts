import { activationSchema as activationDocumentSchema, observedRuntimeSchema } from '@idunn/readiness';
import { z } from 'zod';
import { digestSchema, epochSchema, incarnationSchema, nameSchema } from './words.ts';

const identitySchema = observedRuntimeSchema.shape.identity;

export const handleSchema = z.strictObject({
  version: z.literal(1),
  driver: z.literal('process'),
  target: nameSchema,
  activation: nameSchema,
  identity: identitySchema,
  argv: z.exactOptional(digestSchema),
});

/** What is deployed: a sealed release under its plan. */
export const subjectSchema = z.strictObject({
  incarnation: incarnationSchema,
  plan: digestSchema,
  release: digestSchema,
  build: digestSchema,
  revision: nameSchema,
});
export type Subject = z.infer<typeof subjectSchema>;

const issued = { id: nameSchema };
const minted = { ...issued, document: activationDocumentSchema };
const observed = { ...minted, handle: handleSchema, observed: observedRuntimeSchema };

/** One launch, from its id to the moment its activation is current. Each step knows exactly what came before it. */
export const launchSchema = z.discriminatedUnion('step', [
  z.strictObject({ step: z.literal('issued'), ...issued }),
  z.strictObject({ step: z.literal('minted'), ...minted }),
  z.strictObject({ step: z.literal('observed'), ...observed }),
  z.strictObject({ step: z.literal('current'), ...observed }),
]);
export type Launch = z.infer<typeof launchSchema>;
export type Running = Extract<Launch, { step: 'observed' | 'current' }>;

/** An incarnation and the process that carries it. `epoch` is the lease it was granted, `null` without state. */
export const bodySchema = z.strictObject({
  ...subjectSchema.shape,
  document: activationDocumentSchema,
  handle: handleSchema,
  observed: observedRuntimeSchema,
  epoch: epochSchema.nullable(),
  /** It read the nonce back through its own connections when it took the lease: the epoch fences what is left of it. */
  echoed: z.boolean(),
});
export type Body = z.infer<typeof bodySchema>;

export const subjectOf = (whole: Subject): Subject => ({
  incarnation: whole.incarnation,
  plan: whole.plan,
  release: whole.release,
  build: whole.build,
  revision: whole.revision,
});

export const bodyOf = (subject: Subject, launch: Running, epoch: number | null, echoed: boolean): Body => ({
  ...subjectOf(subject),
  document: launch.document,
  handle: launch.handle,
  observed: launch.observed,
  epoch,
  echoed,
});

/** A body without what a record keeps beside it. */
export const bodyAlone = (body: Body): Body => ({
  ...subjectOf(body),
  document: body.document,
  handle: body.handle,
  observed: body.observed,
  epoch: body.epoch,
  echoed: body.echoed,
});

/** A body as the end of its launch, for a way back that continues with the same process. */
export const launchOf = (body: Body): Running => ({
  step: 'current',
  id: body.document.activation,
  document: body.document,
  handle: body.handle,
  observed: body.observed,
});
