import type { EngineApi } from '@idunn/authority';
import type { Incidents } from '@idunn/client';
import { catalogue, type HistoryEntry, isCode, type Json, type RecordStore } from '@idunn/kernel';

type Shown = Incidents['incidents'][number];

/** Incidents that are over and still told, the newest of them. */
export const CLOSED_LIMIT = 200;
/** Entries of the history that are looked through for them. */
const SCAN_LIMIT = 50_000;
const PAGE_ENTRIES = 500;

/** What is open now, of the fleet or of one subject, and with `all` what was, each group the oldest first. */
export async function readIncidents(
  store: Pick<RecordStore, 'history'>,
  engine: Pick<EngineApi, 'incidents'>,
  { subject, all }: { readonly subject?: string; readonly all: boolean },
): Promise<readonly Shown[]> {
  const open = engine.incidents().filter((one) => subject === undefined || one.subject === subject);
  const closed = all ? await closedOnes(store, subject) : [];
  return [...closed, ...open.map((one) => ({ ...one, closedAt: null }))];
}

async function closedOnes(store: Pick<RecordStore, 'history'>, subject: string | undefined): Promise<Shown[]> {
  const found: Shown[] = [];
  let after: number | undefined;
  for (let scanned = 0; scanned < SCAN_LIMIT && found.length < CLOSED_LIMIT; scanned += PAGE_ENTRIES) {
    const page = await store.history({
      limit: PAGE_ENTRIES,
      newestFirst: true,
      ...(subject === undefined ? {} : { subject }),
      ...(after === undefined ? {} : { after }),
    });
    found.push(...page.flatMap(closedIn));
    after = page.at(-1)?.sequence;
    if (page.length < PAGE_ENTRIES) break;
  }
  return found.slice(0, CLOSED_LIMIT).toReversed();
}

function closedIn({ kind, subject, atMs, body }: HistoryEntry): Shown[] {
  if (kind !== 'incident.closed' || typeof body !== 'object' || body === null || Array.isArray(body)) return [];
  const { incident: id, code, detail, since, told } = body as Readonly<Record<string, Json | undefined>>;
  const whole = typeof id === 'string' && typeof detail === 'string' && typeof since === 'string';
  if (!whole || typeof code !== 'string' || !isCode(code)) return [];
  const closedAt = new Date(atMs).toISOString();
  return [{ id, code, subject, since, closedAt, detail, remedy: catalogue[code].remedy, told: told === true }];
}
