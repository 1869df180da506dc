import type { Evidence, Outcome } from '@idunn/kernel';
import type { IncarnationKey } from '@idunn/readiness';
import type { RouteContract } from '@idunn/release';

export interface RouteMember {
  readonly incarnation: IncarnationKey;
  readonly activation: string;
  readonly backend: { readonly host: string; readonly port: number };
}

export interface RouteState {
  readonly route: string;
  /** Generation of the snapshot that the proxy serves. */
  readonly generation: number;
  readonly listen: { readonly host: string; readonly port: number };
  readonly protocol: 'http' | 'tcp';
  /** Names that the route is told apart by; empty: none. */
  readonly names: readonly string[];
  /** What it serves TLS with; empty: it does not. */
  readonly certificates: readonly CertificateState[];
  readonly members: readonly RouteMember[];
}

export interface CertificateState {
  /** Path of the certificate's file. */
  readonly file: string;
  readonly names: readonly string[];
  /** Of what is served, in milliseconds of the wall clock; `null`: nothing is. */
  readonly validFromMs: number | null;
  readonly expiresAtMs: number | null;
  /** Why what the files hold now is not served; the pair before it goes on serving. */
  readonly problem: string | null;
}

export interface Staged {
  readonly stage: string;
  readonly generation: number;
}

export type RouteEvent =
  /** No request is open any more towards this activation, which is no longer a member (F10, F25). */
  | {
      readonly kind: 'drained';
      readonly route: string;
      readonly incarnation: IncarnationKey;
      readonly activation: string;
    }
  /** The published snapshot of this generation now survives a loss of power too. */
  | { readonly kind: 'durable'; readonly route: string; readonly generation: number }
  /** The files of a certificate hold something else now: what the route serves with, or its problem, is another. */
  | { readonly kind: 'certificates' }
  /** The link to the proxy; after `up`, what it serves must be read anew. */
  | { readonly kind: 'link'; readonly state: 'up' | 'down' };

export interface RouteObservation {
  readonly incarnation: IncarnationKey;
  /** `null` of a stream, which has none. */
  readonly status: number | null;
  readonly body: string | null;
}

/** The route of one target in the proxy. Other routes are never touched (F9). */
export interface RoutePort {
  /** What the proxy says it serves; `absent` when it is reachable and has no such route. */
  read(route: string): Promise<Evidence<RouteState>>;
  /** Renders, validates and acknowledges a snapshot with exactly these members, not yet served (F26). */
  stage(target: string, contract: RouteContract, members: readonly RouteMember[]): Promise<Outcome<Staged>>;
  /** Holds new requests for at most `termMs`; the hold ends by itself towards the last acknowledged snapshot. */
  hold(route: string, termMs: number): Promise<Outcome<'held'>>;
  /** Ends a hold towards what is served now. */
  release(route: string): Promise<Outcome<'released'>>;
  /** Serves the staged snapshot and lets held requests go. A repeat after a lost answer is harmless (F8). */
  publish(staged: Staged): Promise<Outcome<'published'>>;
  /**
   * Sends a request for `path` through the stable route and answers which member the proxy was seen to use, with its
   * status; with `null` for a route of streams: makes a connection through it, and answers the member that the proxy
   * connected it to. `body`: the beginning of an answer other than 2xx, secrets taken out (F5, F30); `null` of a good
   * one, and of a stream.
   */
  observe(route: string, path: string | null): Promise<Evidence<RouteObservation>>;
  /** Requests still open towards an incarnation that is no longer a member (F10, F25). */
  open(route: string, incarnation: IncarnationKey): Promise<Evidence<number>>;
  /** Removes the target's route. */
  remove(route: string): Promise<Outcome<'removed'>>;
  /** Requests held and failed since the last call's hold began, for the outcome line. */
  switchReport(
    route: string,
  ): Promise<Evidence<{ readonly held: number; readonly failed: number; readonly longestHoldMs: number }>>;
  /**
   * Begins the drain of an incarnation that left: answers how many requests are open towards it now. Those still open
   * after `withinMs` are closed by the proxy, streams included; `drained` follows as soon as none is open. Before
   * that end streams are told. Safe to repeat: of several ends that were asked for the earliest holds.
   */
  drain?(route: string, incarnation: IncarnationKey, withinMs: number): Promise<Evidence<number>>;
  subscribe?(listener: (event: RouteEvent) => void): void;
}
