import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import { z } from 'zod';
import { ask, objectOf } from './answer.ts';
import type { KubeApi } from './api.ts';

const PAGE = 250;
/** Objects that one listing takes in. */
const OBJECT_LIMIT = 20_000;
/** How often a listing whose continuation expired begins again. */
const RESTARTS = 3;

const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({
    metadata: z.object({ resourceVersion: z.string().default(''), continue: z.string().optional() }),
    items: z.array(item).nullable(),
  });

export interface Listing<T> {
  readonly items: readonly T[];
  /** From where a watch goes on. */
  readonly resourceVersion: string;
}

/**
 * Everything of one kind, page by page. A continuation that the server has let go (410) begins the listing anew: half
 * of one listing and half of another is no answer.
 */
export async function listAll<T extends z.ZodType>(
  api: KubeApi,
  path: string,
  item: T,
  query: Readonly<Record<string, string>> = {},
): Promise<Outcome<Listing<z.infer<T>>>> {
  const page = pageOf(item);
  for (let attempt = 0; attempt <= RESTARTS; attempt += 1) {
    const listed = await once(api, path, page, query);
    if (listed !== 'expired') return listed as Outcome<Listing<z.infer<T>>>;
  }
  return refused(refusal('cluster-conflict', `${path} changed ${RESTARTS + 1} times while it was listed.`));
}

async function once(
  api: KubeApi,
  path: string,
  page: ReturnType<typeof pageOf>,
  query: Readonly<Record<string, string>>,
): Promise<Outcome<Listing<unknown>> | 'expired'> {
  const items: unknown[] = [];
  for (let token = ''; ; ) {
    const next = token === '' ? {} : { continue: token };
    const asked = await ask(api, { method: 'GET', path, query: { ...query, limit: String(PAGE), ...next } });
    if (asked.kind === 'expired') return 'expired';
    const read = objectOf(asked, page, path);
    if (!read.ok) return read;
    items.push(...(read.value.items ?? []));
    token = read.value.metadata.continue ?? '';
    if (token === '') return ok({ items, resourceVersion: read.value.metadata.resourceVersion });
    if (items.length >= OBJECT_LIMIT) {
      return refused(refusal('cluster-request-refused', `${path} has more than ${OBJECT_LIMIT} objects.`));
    }
  }
}
