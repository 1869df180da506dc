import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { catalogue, type Outcome, ok, refusal, refused } from '@idunn/kernel';
import type { RouteContract } from '@idunn/release';
import { LIMITS } from '../limits.ts';
import { addressText } from '../model/snapshot.ts';
import { createServer } from '../node-http.ts';
import { type Peer, peerOf } from './headers.ts';
import { refuse } from './refuse.ts';
import type { LiveRoute } from './route.ts';

type Address = RouteContract['listen'];

/** The listening sockets, one for each address. Binding or closing one never touches another (F9, F26). */
export class Listeners {
  readonly #bound = new Map<string, { readonly server: Server; readonly route: LiveRoute }>();

  /** Listens for the route, if it does not yet. Until the route serves on this address, requests are answered 503. */
  async bind(address: Address, route: LiveRoute): Promise<Outcome<'bound'>> {
    const text = addressText(address);
    const bound = this.#bound.get(text);
    if (bound?.route === route) return ok('bound');
    const unavailable = (because: string): Outcome<never> =>
      refused(refusal('route-listener-unavailable', `Route ${route.name} cannot listen on ${text}: ${because}.`));
    if (bound !== undefined) return unavailable(`it is the listener of route ${bound.route.name}`);
    const entry = { server: this.#server(text), route };
    const fault = await listen(entry.server, address);
    if (fault !== null) return unavailable(fault);
    // A fault of one accepted connection is that connection's own.
    entry.server.on('error', (error) => route.log.write('listener-fault', { route: route.name, error: error.message }));
    entry.server.on('drop', () => route.log.write('connection-dropped', { route: route.name, because: 'limit' }));
    this.#bound.set(text, entry);
    return ok('bound');
  }

  /**
   * Closes the route's listeners but those on `kept`. Requests that are open go on; their connections end with them.
   */
  closeAllBut(route: LiveRoute, kept: readonly Address[]): void {
    const texts = new Set(kept.map(addressText));
    for (const [text, entry] of this.#bound) {
      if (entry.route !== route || texts.has(text)) continue;
      this.#bound.delete(text);
      entry.server.close();
    }
  }

  /** Stops listening everywhere; resolves when every open request has ended or `withinMs` has passed. */
  async close(elapse: (fire: () => void) => () => void): Promise<void> {
    const servers = [...this.#bound.values()].map(({ server }) => server);
    const ended = Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    const withdraw = elapse(() => {
      for (const server of servers) server.closeAllConnections();
    });
    await ended;
    withdraw();
  }

  #server(text: string): Server {
    const server = createServer({
      noDelay: true,
      keepAliveTimeout: LIMITS.clientIdleMs,
      headersTimeout: LIMITS.clientHeaderMs,
      // A body may be as slow as its client: the backend judges that.
      requestTimeout: 0,
    });
    server.maxHeadersCount = 0; // No header is dropped in silence; their bytes are limited.
    server.maxConnections = LIMITS.clientConnectionsPerRoute;
    const accept = (request: IncomingMessage, response: ServerResponse): void => {
      const route = this.#bound.get(text)?.route;
      const serves = route?.served?.contract.listen;
      if (route === undefined || serves === undefined || addressText(serves) !== text) {
        return refuse(request, response, 503, 'route-without-member');
      }
      route.accept(request, response, peerOfSocket(request.socket));
    };
    server.on('request', accept);
    // The backend decides whether to continue; its 100 is passed on.
    server.on('checkContinue', accept);
    server.on('upgrade', (_request, socket) => refuseUpgrade(socket));
    server.on('connect', (_request, socket) => refuseUpgrade(socket));
    return server;
  }
}

const peers = new WeakMap<object, Peer>();

/** Computed once for each connection. */
function peerOfSocket(socket: IncomingMessage['socket']): Peer {
  let peer = peers.get(socket);
  if (peer === undefined) {
    peer = peerOf(socket.remoteAddress ?? 'unknown');
    peers.set(socket, peer);
  }
  return peer;
}

/** Resolves with the fault, or `null` once the server listens. */
function listen(server: Server, { host, port }: Address): Promise<string | null> {
  return new Promise((resolve) => {
    const failed = (error: NodeJS.ErrnoException): void => resolve(error.code ?? error.message);
    server.once('error', failed);
    server.listen({ host, port, backlog: LIMITS.listenBacklog, exclusive: true }, () => {
      server.off('error', failed);
      resolve(null);
    });
  });
}

function refuseUpgrade(socket: Duplex): void {
  const { reason, remedy } = catalogue['request-upgrade-unsupported'];
  const body = `${JSON.stringify({ code: 'request-upgrade-unsupported', reason, remedy })}\n`;
  socket.on('error', () => undefined);
  socket.end(
    `HTTP/1.1 501 Not Implemented\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `Connection: close\r\n\r\n${body}`,
  );
}
