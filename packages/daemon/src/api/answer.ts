import { API_HEADER, API_VERSION, type Problem } from '@idunn/client';
import { type Code, type Outcome, type Refusal, refusal, refused } from '@idunn/kernel';
import type { FastifyReply } from 'fastify';
import type { z } from 'zod';

/** Sends a value, or a refusal with the status that fits it. */
export function send<T>(reply: FastifyReply, outcome: Outcome<T>): FastifyReply {
  void reply.header(API_HEADER, API_VERSION);
  if (outcome.ok) return reply.code(200).send(outcome.value);
  return reply.code(statusOf(outcome.refusal.code)).send(problemOf(outcome.refusal));
}

/** Refuses a request that cannot be understood, before it was looked at any further. */
export const invalid = (reply: FastifyReply, why = 'the request cannot be read'): FastifyReply =>
  send(reply, refused(refusal('request-invalid', why)));

export const problemOf = (why: Refusal): Problem => ({
  schema: 'idunn.refusal/v1',
  refusal: why as Problem['refusal'],
});

function statusOf(code: Code): number {
  if (code.endsWith('-unknown') || code === 'log-absent') return 404;
  return code === 'request-invalid' ? 400 : code === 'daemon-failed' ? 500 : 422;
}

/** The body as its schema reads it, or a refusal that names every fault. */
export function readBody<T>(schema: z.ZodType<T>, body: unknown): Outcome<T> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return { ok: true, value: parsed.data };
  const faults = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'body'}: ${issue.message}`);
  return { ok: false, refusal: refusal('request-invalid', faults.join('; '), { detail: faults }) };
}
