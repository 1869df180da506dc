import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { RouteMember } from '@idunn/authority';
import type { Clock, Timers } from '@idunn/kernel';
import { LIMITS } from '../limits.ts';
import type { Log } from '../log.ts';
import type { RouteRecord, Snapshot } from '../model/snapshot.ts';
import { Budget } from './budget.ts';
import { Exchange, type ExchangeRoute, type Upgrade } from './exchange.ts';
import type { Peer } from './headers.ts';
import { Member, sameMember } from './member.ts';
import type { Observations } from './observations.ts';
import { refuse } from './refuse.ts';
import { reset, Stream, type StreamRoute, Streams } from './stream.ts';
import { WaitingLine } from './waiting-line.ts';

/** What every route of the router shares. */
export interface RouteSurroundings {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly observations: Observations;
  readonly drained: (route: string, member: RouteMember) => void;
}

export interface SwitchReport {
  readonly held: number;
  readonly failed: number;
  readonly longestHoldMs: number;
}

export interface RouteMetrics {
  readonly route: string;
  readonly target: string;
  readonly generation: number;
  readonly requests: number;
  readonly failed: number;
  readonly held: number;
  readonly heldNow: number;
  readonly keptBytes: number;
  readonly members: readonly { readonly incarnation: string; readonly open: number }[];
  readonly leaving: readonly { readonly incarnation: string; readonly open: number }[];
}

/** One route as it serves: its members, those that left and still work, and the requests that wait for a switch. */
export class LiveRoute implements ExchangeRoute, StreamRoute {
  readonly name: string;
  readonly target: string;
  readonly timers: Timers;
  readonly log: Log;
  readonly observations: Observations;
  readonly budget = new Budget(0);
  readonly line: WaitingLine;
  readonly streams = new Streams();
  readonly #drainedBy: (member: Member) => void;
  readonly #departed = new Set<Member>();
  readonly #drains = new Map<Member, { readonly endsAtMs: number; readonly withdraw: () => void }>();
  readonly #clock: Clock;
  #served: Snapshot | null = null;
  staged: Snapshot | null = null;
  #members: readonly Member[] = [];
  /** Made ahead of the switch, connected already. */
  #coming: readonly Member[] = [];
  #turn = 0;
  #endHold: (() => void) | null = null;
  #totals = { requests: 0, failed: 0, held: 0 };
  #sinceHold = { held: 0, failed: 0, longestHoldMs: 0 };

  constructor(name: string, target: string, surroundings: RouteSurroundings) {
    this.name = name;
    this.target = target;
    this.#clock = surroundings.clock;
    this.timers = surroundings.timers;
    this.log = surroundings.log;
    this.observations = surroundings.observations;
    this.line = new WaitingLine(surroundings.clock, surroundings.timers, this.budget, 0);
    this.#drainedBy = (member) => {
      this.#departed.delete(member);
      this.#drains.get(member)?.withdraw();
      this.#drains.delete(member);
      surroundings.drained(name, member.identity);
    };
  }

  get record(): RouteRecord {
    return { route: this.name, target: this.target, served: this.#served, staged: this.staged };
  }

  get served(): Snapshot | null {
    return this.#served;
  }

  get holding(): boolean {
    return this.#endHold !== null;
  }

  /** A new member may be expected. */
  get switchPending(): boolean {
    return this.holding || this.staged !== null;
  }

  get holdMs(): number {
    return this.#served?.contract.holdMs ?? 0;
  }

  get idleMs(): number {
    return this.#served?.contract.idleMs ?? LIMITS.contractIdleMs;
  }

  /** Nothing is open towards any member that left. */
  get atRest(): boolean {
    return this.#departed.size === 0;
  }

  /** A request of a client, from the listener of the served snapshot. */
  accept(request: IncomingMessage, response: ServerResponse, peer: Peer, upgrade: Upgrade | null = null): void {
    this.#totals.requests++;
    if (this.#served === null) {
      this.failed();
      return refuse(request, response, 503, 'route-without-member');
    }
    const exchange = new Exchange(this, request, response, peer, upgrade);
    if (this.holding) exchange.hold();
    else exchange.forward();
  }

  /** A connection of a client, from the listener of the served snapshot; nothing of it was read. */
  acceptStream(client: Socket): void {
    this.#totals.requests++;
    if (this.#served === null) {
      this.failed();
      return reset(client);
    }
    const stream = new Stream(this, client, this.#served.contract.proxyProtocol);
    this.streams.enter(stream);
    if (this.holding) stream.hold();
    else stream.forward();
  }

  /** Serves this snapshot from now on, and lets those who wait go there, in order. `null` serves nothing any more. */
  switchTo(snapshot: Snapshot | null): void {
    const before = this.#members;
    this.#served = snapshot;
    this.#members = this.#membersOf(snapshot);
    for (const member of this.#coming) if (!this.#members.includes(member)) member.discard();
    this.#coming = [];
    if (snapshot !== null) {
      this.budget.limit = snapshot.contract.holdBytes;
      this.line.countLimit = snapshot.contract.holdRequests;
    }
    this.#endHold?.();
    this.#endHold = null;
    this.line.letGo('switched');
    for (const member of before) if (!this.#members.includes(member)) this.#leave(member);
  }

  #membersOf(snapshot: Snapshot | null): readonly Member[] {
    const known = [...this.#members, ...this.#coming];
    return (snapshot?.members ?? []).map(
      (identity) =>
        known.find((member) => sameMember(member.identity, identity)) ??
        new Member(identity, this.timers, this.#drainedBy),
    );
  }

  #leave(member: Member): void {
    this.#departed.add(member);
    member.leave();
  }

  /**
   * Holds new requests for `termMs` from now; the hold ends by itself towards what is served then. A repeat begins
   * anew.
   */
  hold(termMs: number): void {
    if (this.#endHold === null) this.#sinceHold = { held: 0, failed: 0, longestHoldMs: 0 };
    this.#endHold?.();
    this.warmUp();
    this.#endHold = this.timers.after(termMs, () => {
      this.log.write('hold-ended-by-term', { route: this.name, termMs, waiting: this.line.length });
      this.release();
    });
  }

  /** The coming members get as many connections as the present ones have, and again those that have ended meanwhile. */
  warmUp(): void {
    const connections = this.#members.reduce((sum, member) => sum + member.connections, 0);
    // A stream's backend may speak first: it is connected to for a client only.
    if (this.staged?.contract.protocol === 'tcp') return;
    const coming = this.#membersOf(this.staged).filter((member) => !this.#members.includes(member));
    for (const member of this.#coming) if (!coming.includes(member)) member.discard();
    this.#coming = coming;
    for (const member of coming) member.warm(Math.ceil(connections / coming.length));
  }

  release(): void {
    if (this.#endHold === null) return;
    this.#endHold();
    this.#endHold = null;
    this.line.letGo('released');
  }

  /** The next member in turn; `null` without any. */
  pick(): Member | null {
    this.#turn = (this.#turn + 1) % Math.max(1, this.#members.length);
    return this.#members[this.#turn] ?? null;
  }

  has(member: Member): boolean {
    return this.#members.includes(member);
  }

  /** Requests open towards the incarnation, wherever it stands. */
  open(incarnation: string): number {
    return [...this.#members, ...this.#departed]
      .filter((member) => member.identity.incarnation === incarnation)
      .reduce((sum, member) => sum + member.open, 0);
  }

  /**
   * Closes what is still open towards the departed incarnation after `withinMs`; of repeats the earliest end holds.
   * Blocks nobody (F10).
   */
  drain(incarnation: string, withinMs: number): number {
    let open = 0;
    for (const member of this.#departed) {
      if (member.identity.incarnation !== incarnation) continue;
      open += member.open;
      const endsAtMs = this.#clock.monotonicMs() + withinMs;
      const before = this.#drains.get(member);
      // A repeat asks how many are open; it never puts the end off.
      if (before !== undefined && before.endsAtMs <= endsAtMs) continue;
      before?.withdraw();
      this.#drains.set(member, { endsAtMs, withdraw: this.#endDrain(member, withinMs) });
    }
    return open;
  }

  /** Streams are told a while before the end, so that their clients come again by themselves; then they are cut. */
  #endDrain(member: Member, withinMs: number): () => void {
    const { incarnation } = member.identity;
    const noticeMs = Math.min(LIMITS.noticeMs, withinMs / 2);
    const withdrawNotice = this.timers.after(withinMs - noticeMs, () => member.notice());
    const withdrawCut = this.timers.after(withinMs, () => {
      this.log.write('drain-cut', { route: this.name, incarnation, open: member.open });
      member.cut();
    });
    return () => {
      withdrawNotice();
      withdrawCut();
    };
  }

  /** The router is about to end: everything that is open is told, towards whichever member. */
  notice(): void {
    for (const member of [...this.#members, ...this.#departed]) member.notice();
  }

  /** Closes everything that is open. */
  cut(): void {
    for (const member of [...this.#members, ...this.#departed]) member.cut();
  }

  failed(): void {
    this.#totals.failed++;
    this.#sinceHold.failed++;
  }

  held(): void {
    this.#totals.held++;
    this.#sinceHold.held++;
  }

  departed(waitedMs: number): void {
    this.#sinceHold.longestHoldMs = Math.max(this.#sinceHold.longestHoldMs, waitedMs);
  }

  report(): SwitchReport {
    return { ...this.#sinceHold };
  }

  metrics(): RouteMetrics {
    const openOf = (member: Member) => ({ incarnation: member.identity.incarnation, open: member.open });
    return {
      route: this.name,
      target: this.target,
      generation: this.#served?.generation ?? 0,
      ...this.#totals,
      heldNow: this.line.length,
      keptBytes: this.budget.used,
      members: this.#members.map(openOf),
      leaving: [...this.#departed].map(openOf),
    };
  }
}
