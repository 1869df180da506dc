import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import { faultsOf, type Marker, markerSchema, type RouterState, STATE_SCHEMA, stateSchema } from '../model/schema.ts';
import { decidePublish, type RouteRecord } from '../model/snapshot.ts';

export interface Replayed {
  readonly state: RouterState;
  /** Bytes of the journal that hold whole lines; a torn line behind them was never acknowledged. */
  readonly journalBytes: number;
}

/**
 * What the router served last, from its state file and the journal of publications since. Pure.
 *
 * Whatever does not fit is a refusal: an unreadable state is loud, never empty (F9). Only two absent files are a first
 * start.
 */
export function replay(fleet: string, stateText: string | null, journalText: string | null): Outcome<Replayed> {
  if (stateText === null) {
    if (journalText !== null) return unreadable('the state file is missing, though its journal exists');
    const state: RouterState = { schema: STATE_SCHEMA, fleet, sequence: 0, generationFloor: 0, routes: [] };
    return ok({ state, journalBytes: 0 });
  }
  const parsed = stateSchema.safeParse(jsonOf(stateText));
  if (!parsed.success) return unreadable(`the state file is not valid: ${faultsOf(parsed.error)}`);
  if (parsed.data.fleet !== fleet) return unreadable(`the state file belongs to fleet ${parsed.data.fleet}`);
  const whole = (journalText ?? '').slice(0, (journalText ?? '').lastIndexOf('\n') + 1);
  const routes = new Map<string, RouteRecord>(parsed.data.routes.map((record) => [record.route, record]));
  let sequence = parsed.data.sequence;
  for (const line of whole.split('\n').slice(0, -1)) {
    const marker = markerSchema.safeParse(jsonOf(line));
    if (!marker.success) return unreadable(`the journal is not valid: ${faultsOf(marker.error)}`);
    if (marker.data.sequence <= parsed.data.sequence) continue; // The state file includes it already.
    const next = publishedRecord(routes, marker.data);
    if (next === null)
      return unreadable(`the journal publishes ${marker.data.stage}, which the state file does not know`);
    routes.set(next.route, next);
    sequence = marker.data.sequence;
  }
  const state: RouterState = { ...parsed.data, sequence, routes: [...routes.values()].map(mutable) };
  return ok({ state, journalBytes: Buffer.byteLength(whole) });
}

function publishedRecord(routes: ReadonlyMap<string, RouteRecord>, marker: Marker): RouteRecord | null {
  const record = routes.get(marker.route);
  if (record === undefined) return null;
  const decision = decidePublish(record, marker.stage);
  switch (decision.kind) {
    case 'switch':
      return decision.record;
    case 'served-already':
      return record;
    case 'unknown-stage':
      return null;
  }
}

const mutable = (record: RouteRecord): RouterState['routes'][number] => ({ ...record });

const unreadable = (because: string): Outcome<never> =>
  refused(refusal('router-state-unreadable', `The router does not start: ${because}.`));

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
