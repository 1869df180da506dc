import type { ClientRequest, ClientRequestArgs } from 'node:http';
import { connect, type NetConnectOpts, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { RouteMember } from '@idunn/authority';
import type { Timers } from '@idunn/kernel';
import { LIMITS } from '../limits.ts';
import { Agent, request } from '../node-http.ts';

/** What is open towards a member and can be closed at the end of its drain. */
export interface Open {
  /** The drain is about to end: what lives on beyond one answer is told. */
  notice(): void;
  cut(): void;
}

/** How a backend request is connected: from the pool, on a new connection, or on one that carries a tunnel later. */
export type Connecting = 'pooled' | 'fresh' | 'tunnel';

/** Keeps idle backend connections for as long as their member is one. */
class MemberAgent extends Agent {
  readonly #timers: Timers;
  readonly #warm = new Set<Socket>();
  readonly #warming = new Set<Socket>();
  retired = false;

  readonly #allowHalfOpen: boolean;

  constructor(timers: Timers, { keepAlive = false, allowHalfOpen = false }) {
    super({
      keepAlive,
      maxFreeSockets: LIMITS.backendIdleConnections,
      scheduling: 'lifo',
      ...(keepAlive ? { timeout: LIMITS.backendIdleMs } : {}),
    });
    this.#timers = timers;
    this.#allowHalfOpen = allowHalfOpen;
  }

  override createConnection(options: ClientRequestArgs): Socket {
    const [warm] = this.#warm;
    if (warm === undefined) return this.connect(options);
    this.#warm.delete(warm);
    warm.removeAllListeners('error');
    warm.removeAllListeners('timeout');
    warm.setTimeout(LIMITS.backendIdleMs);
    return warm;
  }

  /** Connects ahead, so that the first requests after a switch find connections that stand. */
  warm(place: RouteMember['backend'], count: number): void {
    for (let missing = count - this.#warm.size - this.#warming.size; missing > 0; missing--) {
      const socket = this.connect(place);
      this.#warming.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        this.#warm.delete(socket);
        this.#warming.delete(socket);
      });
      socket.setTimeout(LIMITS.warmMs);
      socket.on('timeout', () => socket.destroy());
      socket.on('connect', () => {
        this.#warming.delete(socket);
        this.#warm.add(socket);
      });
    }
  }

  connect(options: ClientRequestArgs): Socket {
    const allowHalfOpen = this.#allowHalfOpen;
    const socket = connect({ ...options, noDelay: true, allowHalfOpen } as NetConnectOpts);
    const late = Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT', syscall: 'connect' });
    const withdraw = this.#timers.after(LIMITS.connectMs, () => socket.destroy(late));
    socket.once('connect', withdraw).once('close', withdraw);
    return socket;
  }

  override keepSocketAlive(socket: Duplex): boolean {
    // Node documents the boolean answer; its types leave it out.
    const alive = super.keepSocketAlive(socket) as unknown;
    return !this.retired && alive === true;
  }

  retire(): void {
    this.retired = true;
    for (const socket of [...this.#warm, ...this.#warming]) socket.destroy();
    for (const sockets of Object.values(this.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
  }
}

/** One backend of a route, with its own pool of connections and the requests open towards it. */
export class Member {
  readonly identity: RouteMember;
  readonly #pool: MemberAgent;
  readonly #fresh: MemberAgent;
  readonly #tunnels: MemberAgent;
  readonly #open = new Set<Open>();
  readonly #drained: (member: Member) => void;
  #member = true;

  /** `drained` is called once the member has left and nothing is open towards it any more. */
  constructor(identity: RouteMember, timers: Timers, drained: (member: Member) => void) {
    this.identity = identity;
    this.#pool = new MemberAgent(timers, { keepAlive: true });
    this.#fresh = new MemberAgent(timers, {});
    this.#tunnels = new MemberAgent(timers, { allowHalfOpen: true });
    this.#drained = drained;
  }

  get open(): number {
    return this.#open.size;
  }

  /** Connections that stand, busy and idle ones. */
  get connections(): number {
    return [this.#pool.sockets, this.#pool.freeSockets]
      .flatMap((sockets) => Object.values(sockets))
      .reduce((sum, sockets) => sum + (sockets?.length ?? 0), 0);
  }

  /** A connection to the backend for a stream, under way; it fails by itself when it takes too long. */
  connect(): Socket {
    return this.#tunnels.connect(this.identity.backend);
  }

  /**
   * A backend request, its header not yet sent. Throws `TypeError` when the header cannot be put on the wire.
   */
  request(method: string, path: string, headers: readonly string[], connecting: Connecting): ClientRequest {
    const { host, port } = this.identity.backend;
    const agent = { pooled: this.#pool, fresh: this.#fresh, tunnel: this.#tunnels }[connecting];
    return request({
      agent,
      host,
      port,
      method,
      path,
      headers,
      setHost: false,
      maxHeaderSize: LIMITS.backendHeaderBytes,
    });
  }

  /** Connects ahead to a member that is to come. */
  warm(count: number): void {
    this.#pool.warm(this.identity.backend, Math.min(count, LIMITS.warmConnections));
  }

  begin(open: Open): void {
    this.#open.add(open);
  }

  end(open: Open): void {
    if (this.#open.delete(open) && !this.#member && this.#open.size === 0) this.#drained(this);
  }

  /** No longer a member: idle connections end now, busy ones with what they carry. */
  leave(): void {
    this.#member = false;
    this.#pool.retire();
    if (this.#open.size === 0) this.#drained(this);
  }

  /** Was never a member. */
  discard(): void {
    this.#pool.retire();
  }

  /** Tells what is still open that the end is near. */
  notice(): void {
    for (const open of Array.from(this.#open)) open.notice();
  }

  /** Closes what is still open. */
  cut(): void {
    for (const open of Array.from(this.#open)) open.cut();
  }
}

/** The same place of the same launch: its connections may be used on. */
export const sameMember = (one: RouteMember, other: RouteMember): boolean =>
  one.incarnation === other.incarnation &&
  one.activation === other.activation &&
  one.backend.host === other.backend.host &&
  one.backend.port === other.backend.port;
