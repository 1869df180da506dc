import { createHash } from 'node:crypto';
import type { RouteMember } from '@idunn/authority';
import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import type { RouteContract } from '@idunn/release';
import { LIMITS } from '../limits.ts';

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
 * The snapshot that this request stages, or why not. A route belongs to the target that staged it first, and a listener
 * to one route, so that no request can touch another target's (F9).
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
  const holder = listenerHolder(routes, contract);
  if (holder !== undefined) {
    const address = addressText(contract.listen);
    const holds = `route ${holder.route} (target ${holder.target})`;
    const reason = `${address} of route ${contract.name} is the listener of ${holds}.`;
    return refused(refusal('route-listener-unavailable', reason));
  }
  const generation = (known?.served?.generation ?? floor) + 1;
  return ok({ stage: stageId(target, generation, contract, members), generation, contract, members });
}

function listenerHolder(routes: Routes, contract: RouteContract): RouteRecord | undefined {
  const wanted = addressText(contract.listen);
  for (const record of routes.values()) {
    if (record.route === contract.name) continue;
    const taken = [record.served, record.staged].some(
      (snapshot) => snapshot !== null && addressText(snapshot.contract.listen) === wanted,
    );
    if (taken) return record;
  }
  return undefined;
}

export const addressText = (listen: { readonly host: string; readonly port: number }): string =>
  listen.host.includes(':') ? `[${listen.host}]:${listen.port}` : `${listen.host}:${listen.port}`;

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
