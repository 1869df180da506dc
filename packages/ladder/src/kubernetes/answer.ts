import { type Outcome, ok, type Refusal, refusal, refused } from '@idunn/kernel';
import { z } from 'zod';
import type { KubeAnswer, KubeApi, KubeRequest } from './api.ts';

const statusSchema = z.object({
  message: z.string().default(''),
  reason: z.string().default(''),
  details: z
    .object({
      causes: z
        .array(
          z.object({ reason: z.string().default(''), message: z.string().default(''), field: z.string().default('') }),
        )
        .default([]),
    })
    .optional(),
});

/** A field that would be set, and the manager that owns it. */
export interface OwnedField {
  readonly field: string;
  readonly manager: string;
}

/** What came of a request, sorted by what can be done about it. */
export type Asked =
  | { readonly kind: 'object'; readonly body: unknown }
  | { readonly kind: 'absent' }
  /** The object changed since it was read, or another manager owns what would be set. */
  | { readonly kind: 'conflict'; readonly refusal: Refusal; readonly owned: readonly OwnedField[] }
  /** The version or the continuation that was named is too old: read anew. */
  | { readonly kind: 'expired' }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

/** Asks, and sorts what came of it; a lost answer is a refusal that says that nothing is known (F8). */
export async function ask(api: KubeApi, request: KubeRequest): Promise<Asked> {
  let answer: KubeAnswer;
  try {
    answer = await api.request(request);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { kind: 'refused', refusal: refusal('cluster-unreachable', `${api.server} gave no answer: ${why}.`) };
  }
  return sort(request, answer);
}

function sort(request: KubeRequest, { status, body }: KubeAnswer): Asked {
  if (status >= 200 && status < 300) return { kind: 'object', body };
  const said = statusSchema.safeParse(body);
  const message = said.success && said.data.message !== '' ? said.data.message : `status ${status}`;
  const words = mayQuote(request, status) ? message : withoutValues(status, said.data);
  const what = `${request.method} ${request.path}: ${words}`;
  switch (status) {
    case 404:
      return { kind: 'absent' };
    case 409: {
      const causes = (said.success ? said.data.details?.causes : undefined) ?? [];
      const owned = causes.filter(({ reason }) => reason === 'FieldManagerConflict');
      return {
        kind: 'conflict',
        owned: owned.map(({ field, message: said }) => ({ field, manager: /"([^"]+)"/.exec(said)?.[1] ?? said })),
        refusal: refusal(owned.length === 0 ? 'cluster-conflict' : 'field-owned-elsewhere', `${what}.`),
      };
    }
    case 410:
      return { kind: 'expired' };
    case 401:
    case 403:
      return { kind: 'refused', refusal: refusal('cluster-access-refused', `${what}.`) };
    default: {
      const busy = status === 429 || status >= 500;
      return {
        kind: 'refused',
        refusal: refusal(busy ? 'cluster-unreachable' : 'cluster-request-refused', `${what}.`),
      };
    }
  }
}

/** F30: what a server says of a Secret that it does not take may quote the values of it. */
const mayQuote = ({ path }: KubeRequest, status: number): boolean =>
  !/\/secrets(?:\/|$)/.test(path) || [401, 403, 404, 409, 410].includes(status);

function withoutValues(status: number, said: z.infer<typeof statusSchema> | undefined): string {
  const fields = (said?.details?.causes ?? []).flatMap(({ field }) => (field === '' ? [] : [field]));
  return [`status ${status}`, said?.reason ?? '', ...fields].filter((word) => word !== '').join(', ');
}

/** A read or a change whose object must be there and whose answer must fit. */
export function objectOf<T>(asked: Asked, shape: z.ZodType<T>, what: string): Outcome<T> {
  switch (asked.kind) {
    case 'object': {
      const read = shape.safeParse(asked.body);
      if (read.success) return ok(read.data);
      const fields = read.error.issues.map(({ path }) => path.join('.')).join(', ');
      return refused(refusal('cluster-answer-unreadable', `${what} was answered without a usable ${fields}.`));
    }
    case 'absent':
      return refused(refusal('cluster-object-absent', `There is no ${what}.`));
    case 'expired':
      return refused(refusal('cluster-conflict', `${what} changed while it was read.`));
    case 'conflict':
    case 'refused':
      return refused(asked.refusal);
  }
}
