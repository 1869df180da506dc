import type { Socket } from 'node:net';
import type { RouteMember } from '@idunn/authority';
import type { Code, Timers } from '@idunn/kernel';
import { LIMITS } from '../limits.ts';
import type { Log } from '../log.ts';
import type { Member, Open } from './member.ts';
import { proxyHeader } from './proxy-protocol.ts';
import { Tunnel } from './tunnel.ts';
import type { Waiting, WaitingLine } from './waiting-line.ts';

/** What a stream needs of its route. */
export interface StreamRoute {
  readonly name: string;
  readonly timers: Timers;
  readonly log: Log;
  readonly line: WaitingLine;
  readonly switchPending: boolean;
  readonly holdMs: number;
  readonly idleMs: number;
  pick(): Member | null;
  failed(): void;
  held(): void;
  departed(waitedMs: number): void;
}

/** One connection of a route of streams. It belongs to no member before it is connected, and to one from then on. */
export class Stream implements Open {
  readonly #route: StreamRoute;
  readonly #client: Socket;
  readonly #says: Buffer | null;
  readonly #reached = new Set<(member: RouteMember | null) => void>();
  #member: Member | null = null;
  #backend: Socket | null = null;
  #tunnel: Tunnel | null = null;
  #waiting: Waiting | null = null;
  #waitedMs = 0;
  #over = false;

  constructor(route: StreamRoute, client: Socket, proxyProtocol: boolean) {
    this.#route = route;
    this.#client = client;
    const { remoteAddress, remotePort, localAddress, localPort } = client;
    this.#says = proxyProtocol
      ? proxyHeader(
          { address: remoteAddress ?? '0.0.0.0', port: remotePort ?? 0 },
          { address: localAddress ?? '0.0.0.0', port: localPort ?? 0 },
        )
      : null;
    client.on('error', () => undefined); // `close` follows.
    client.once('close', () => this.#end());
  }

  /** The client's own end of the connection. */
  get peer(): string {
    return peerText(this.#client.remoteAddress, this.#client.remotePort);
  }

  /** Calls once with the member that the stream reached; `null` when it ended before. */
  onReached(tell: (member: RouteMember | null) => void): void {
    if (this.#tunnel !== null || this.#over) tell(this.#member?.identity ?? null);
    else this.#reached.add(tell);
  }

  /** Accepted and not connected: waits for the switch that is under way, within the limits of the route. */
  hold(): void {
    const waiting: Waiting = {
      bytes: LIMITS.heldStreamBytes,
      withinMs: Math.max(0, this.#route.holdMs - this.#waitedMs),
      depart: (departure, waitedMs) => {
        this.#waiting = null;
        this.#waitedMs += waitedMs;
        this.#route.departed(this.#waitedMs);
        if (departure === 'expired') this.#refuse('request-hold-expired');
        else this.forward();
      },
    };
    if (this.#route.line.enter(waiting) === 'full') return this.#refuse('request-hold-full');
    this.#waiting = waiting;
    this.#route.held();
  }

  /** Connects to the member whose turn it is. */
  forward(): void {
    const member = this.#route.pick();
    if (member === null) return this.#refuse('route-without-member');
    const backend = member.connect();
    this.#member = member;
    this.#backend = backend;
    member.begin(this);
    const unreachable = (): void => this.#unreachable(member);
    backend.once('error', unreachable);
    backend.once('connect', () => {
      backend.off('error', unreachable);
      this.#join(backend);
    });
  }

  notice(): void {
    this.#tunnel?.notice();
  }

  cut(): void {
    if (this.#tunnel === null) this.#refuse('request-cut-at-drain');
    else this.#tunnel.cut();
  }

  #join(backend: Socket): void {
    if (this.#says !== null) backend.write(this.#says);
    backend.setKeepAlive(true, LIMITS.keepAliveProbeMs);
    const { idleMs } = this.#route;
    this.#tunnel = new Tunnel({ client: this.#client, backend, speaks: 'anything', idleMs, ended: () => this.#end() });
    this.#tell(this.#member?.identity ?? null);
  }

  /** Nothing was sent, so the stream may go to the member that is to come. */
  #unreachable(member: Member): void {
    member.end(this);
    this.#member = null;
    this.#backend = null;
    if (this.#over) return;
    this.#route.log.write('backend-unreachable', { route: this.#route.name });
    if (this.#route.switchPending && this.#waitedMs < this.#route.holdMs) this.hold();
    else this.#refuse('backend-unreachable');
  }

  /** A stream has no words for a refusal: its connection is reset, and the reason is in the log. */
  #refuse(code: Code): void {
    this.#route.failed();
    this.#route.log.write('stream-refused', { route: this.#route.name, code });
    reset(this.#client);
    this.#end();
  }

  /** Both ends have gone, or the client before it was connected. */
  #end(): void {
    if (this.#tunnel !== null && !(this.#client.destroyed && this.#backend?.destroyed === true)) return;
    this.#over = true;
    if (this.#waiting !== null) this.#route.line.leave(this.#waiting);
    this.#waiting = null;
    this.#tell(null);
    this.#backend?.destroy();
    this.#member?.end(this);
    this.#member = null;
  }

  #tell(member: RouteMember | null): void {
    for (const tell of this.#reached) tell(member);
    this.#reached.clear();
  }
}

/** Ends the connection so that its peer cannot take it for a good end; TLS knows that from its missing last word. */
export function reset(socket: Socket): void {
  if ('encrypted' in socket) socket.destroy();
  else socket.resetAndDestroy();
}

/** An address and port in one spelling, whichever family the socket is of. */
export const peerText = (address: string | undefined, port: number | undefined): string =>
  `${(address ?? '').replace(/^::ffff:/i, '')} ${port ?? 0}`;

/** Who came, so that the router can find a connection of its own among those that its listener accepted. */
export class Streams {
  readonly #awaited = new Map<string, (stream: Stream) => void>();
  /** Accepted while somebody looks for one that may have come already. */
  #recent: Map<string, Stream> | null = null;
  #lookers = 0;

  enter(stream: Stream): void {
    if (this.#lookers === 0) return;
    this.#recent?.set(stream.peer, stream);
    this.#awaited.get(stream.peer)?.(stream);
  }

  /** From now on connections are remembered; answers the way to end that. */
  look(): { await(peer: string, found: (stream: Stream) => void): void; end(): void } {
    this.#lookers++;
    this.#recent ??= new Map();
    let awaited = '';
    return {
      await: (peer, found) => {
        awaited = peer;
        const known = this.#recent?.get(peer);
        if (known === undefined) this.#awaited.set(peer, found);
        else found(known);
      },
      end: () => {
        this.#awaited.delete(awaited);
        this.#lookers--;
        if (this.#lookers === 0) this.#recent = null;
      },
    };
  }
}
