import { z } from 'zod';

/** Names that reach file names and record ids: what a target, profile or operation may be called. */
export const name = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'a name is up to 63 of a-z, 0-9 and -');

const operationId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/, 'an operation id is up to 128 of A-Za-z0-9._:-');

const asked = {
  /** The caller's own id for this exact request; a repeat returns the first answer (F24, I12). */
  operationId,
  target: name,
};
const withdrawn = { operationId, transaction: z.string().min(1).max(255) };

export const commandRequest = z.discriminatedUnion('kind', [
  z.strictObject({ ...asked, kind: z.literal('up'), ref: z.string().min(1).max(255).nullable() }),
  z.strictObject({ ...asked, kind: z.literal('takeover'), confirm: z.string().min(1).max(255) }),
  z.strictObject({ ...asked, kind: z.literal('restart') }),
  /** Ends another transaction: before its fence, or in a phase that lasts too long. */
  z.strictObject({ ...withdrawn, kind: z.literal('cancel') }),
  z.strictObject({ ...withdrawn, kind: z.literal('expire') }),
]);

export const planRequest = z.strictObject({ target: name, ref: z.string().min(1).max(255).nullable() });

/** The envelope is opened by the release room, which trusts nothing in it. */
export const authorizationRequest = z.strictObject({ target: name, envelope: z.json() });

/** Takes a build in from an export: an absolute path of the daemon's machine. */
export const takeBuildRequest = z.strictObject({ target: name, directory: z.string().startsWith('/').max(4_096) });

export const keyRequest = z.strictObject({ target: name });

export type CommandRequest = z.infer<typeof commandRequest>;
export type PlanRequest = z.infer<typeof planRequest>;
export type AuthorizationRequest = z.infer<typeof authorizationRequest>;
export type KeyRequest = z.infer<typeof keyRequest>;
