import { createHash } from 'node:crypto';
import type { RouteMember } from '@idunn/authority';
import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import type { RouteContract } from '@idunn/release';
import { LIMITS } from '../limits.ts';
import { clashes, placesOf } from './place.ts';

/** One route's membership, whole and unchanging: what is staged, published and read back. */
export interface Snapshot {
  /** Digest of everything below with the route's name; the same content has the same id. */
  readonly stage: string;
  readonly generation: number;
  readonly contract: RouteContract;
  readonly members: readonly RouteMember[];
}

/** What the router remembers of one route. */
export interface RouteRecord {
  readonly route: string;
  readonly target: string;
  readonly served: Snapshot | null;
  readonly staged: Snapshot | null;
}

export interface StageRequest {
  readonly target: string;
  readonly contract: RouteContract;
  readonly members: readonly RouteMember[];
}

export type Routes = ReadonlyMap<string, RouteRecord>;

/**
 * The snapshot that this request stages, or why not. A route belongs to the target that staged it first, and each name
 * of a listener to one route, so that no request can touch another target's (F9).
 *
 * `floor` is the highest generation of any route that was removed: a route that comes back never gets an old one again.
 */
export function decideStage(routes: Routes, floor: number, request: StageRequest): Outcome<Snapshot> {
  const { target, contract, members } = request;
  const known = routes.get(contract.name);
  if (known !== undefined && known.target !== target) {
    const reason = `Route ${contract.name} belongs to target ${known.target}, not to ${target}.`;
    return refused(refusal('route-owned-by-another-target', reason));
  }
  if (known === undefined && routes.size >= LIMITS.routes) {
    return refused(refusal('router-limit-reached', `The router has ${routes.size} routes, its limit.`));
  }
  const holder = placeHolder(routes, contract);
  if (holder !== undefined) {
    const { record, address } = holder;
    const holds = `route ${record.route} (target ${record.target})`;
    const reason = `${address} of route ${contract.name} is that of ${holds}, by name or by protocol.`;
    return refused(refusal('route-listener-unavailable', reason));
  }
  const generation = (known?.served?.generation ?? floor) + 1;
  return ok({ stage: stageId(target, generation, contract, members), generation, contract, members });
}

/** A route that has one of the wanted places in a way that cannot be shared. */
function placeHolder(routes: Routes, contract: RouteContract): { record: RouteRecord; address: string } | undefined {
  const wanted = placesOf(contract);
  for (const record of routes.values()) {
    if (record.route === contract.name) continue;
    for (const snapshot of [record.served, record.staged]) {
      const clash = placesOf(snapshot?.contract ?? null).find((taken) => wanted.some((place) => clashes(place, taken)));
      if (clash !== undefined) return { record, address: clash.text };
    }
  }
  return undefined;
}

function stageId(target: string, generation: number, contract: RouteContract, members: readonly RouteMember[]): string {
  const content = JSON.stringify([target, generation, contract, members]);
  return `stage-${createHash('sha256').update(content).digest('hex')}`;
}

export type PublishDecision =
  | { readonly kind: 'switch'; readonly record: RouteRecord & { readonly served: Snapshot } }
  /** It is what is served already: an earlier answer was lost (F8). */
  | { readonly kind: 'served-already'; readonly served: Snapshot }
  | { readonly kind: 'unknown-stage' };

/** The record after this publication. Pure, so that a restarted router replays its journal through the same rule. */
export function decidePublish(record: RouteRecord, stage: string): PublishDecision {
  if (record.staged?.stage === stage) {
    return { kind: 'switch', record: { ...record, served: record.staged, staged: null } };
  }
  if (record.served?.stage === stage) return { kind: 'served-already', served: record.served };
  return { kind: 'unknown-stage' };
}
