import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as Listener, type Socket } from 'node:net';
import type { TLSSocket, TlsOptions } from 'node:tls';
import { LIMITS } from '../limits.ts';
import type { PlaceKind } from '../model/place.ts';
import { createServer, ServerResponse as Response } from '../node-http.ts';
import { Connections } from './connections.ts';
import type { Upgrade } from './exchange.ts';
import { type Peer, peerOf } from './headers.ts';
import { type Names, nameOf } from './names.ts';
import { refuse } from './refuse.ts';
import { ambiguity } from './target.ts';

/** A server of requests, over TLS when it is given `tls`. */
export class HttpListener {
  readonly server: Server;
  readonly #names: Names;
  readonly #kind: PlaceKind;
  readonly #answers = new Set<ServerResponse>();
  readonly #connections: Connections;
  #closing = false;

  constructor(kind: PlaceKind, names: Names, tls: TlsOptions | null) {
    this.#kind = kind;
    this.#names = names;
    const options = {
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: LIMITS.keepAliveProbeMs,
      keepAliveTimeout: LIMITS.clientIdleMs,
      headersTimeout: LIMITS.clientHeaderMs,
      // A body may be as slow as its client: the backend judges that.
      requestTimeout: 0,
    };
    const server =
      tls === null
        ? createServer(options)
        : (process.getBuiltinModule('node:https').createServer({ ...options, ...tls }) as Server);
    server.maxHeadersCount = 0; // No header is dropped in silence; their bytes are limited.
    server.maxConnections = LIMITS.clientConnectionsPerListener;
    server.on('request', (request, response) => this.#take(request, response, null));
    // The backend decides whether to continue; its 100 is passed on.
    server.on('checkContinue', (request, response) => this.#take(request, response, null));
    server.on('upgrade', (request, socket, head) => this.#upgrade(request, socket as Socket, head));
    server.on('connect', (request, socket) => {
      refuse(request, answerOn(request, socket as Socket).response, 501, 'request-upgrade-unsupported');
    });
    this.server = server;
    this.#connections = new Connections(server, tls !== null);
  }

  /** Stops listening. Idle connections end now, busy ones with the answer that they wait for. */
  close(ended?: () => void): void {
    this.#noticeAnswers();
    this.server.close(ended);
  }

  /**
   * Stops listening; every connection ends with an answer. What seems idle may be about to ask, on a connection that it
   * was just given: whoever closes that fails a request.
   */
  closeAfterAnswers(ended: () => void): void {
    this.#noticeAnswers();
    Listener.prototype.close.call(this.server, ended);
  }

  #noticeAnswers(): void {
    this.#closing = true;
    for (const answer of this.#answers) if (!answer.headersSent) answer.shouldKeepAlive = false;
  }

  /** Ends every connection, those in the middle of a TLS handshake too. */
  cut(): void {
    this.server.closeAllConnections();
    this.#connections.cut();
  }

  #take(request: IncomingMessage, response: ServerResponse, upgrade: Upgrade | null): void {
    this.#answers.add(response);
    response.once('close', () => this.#answers.delete(response));
    if (this.#closing) response.shouldKeepAlive = false;
    const wrong = ambiguity(request);
    if (wrong !== null) {
      response.shouldKeepAlive = false; // Whatever follows on this connection may be something else than it seems.
      return refuse(request, response, wrong === 'request-unforwardable' ? 501 : 400, wrong);
    }
    const name = nameOf(request.headers.host);
    const route = this.#names.find(name);
    if (this.#names.first === undefined) return refuse(request, response, 503, 'route-without-member');
    // A connection that was made for one route's name carries no requests of another's (RFC 9110, 7.4).
    if (route === undefined || this.#madeForAnother(request, route)) {
      return refuse(request, response, 421, 'request-misdirected');
    }
    if (this.#kind === 'redirect') return redirect(request, response, route.served?.contract.listen.port ?? 443);
    route.accept(request, response, peerOfSocket(request.socket), upgrade);
  }

  #madeForAnother({ socket }: IncomingMessage, route: unknown): boolean {
    const { servername } = socket as Partial<TLSSocket>;
    return typeof servername === 'string' && this.#names.find(nameOf(servername)) !== route;
  }

  #upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const { response, take } = answerOn(request, socket);
    if (head.length > 0) socket.unshift(head);
    const protocol = request.headers.upgrade ?? '';
    const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers;
    if (length !== '0' || coding !== undefined) return refuse(request, response, 501, 'request-upgrade-unsupported');
    // HTTP/2 without TLS is not offered; who asks for it is answered as if it had not (RFC 9110, 7.8).
    const asked = /^h2c?\b/i.test(protocol) || protocol === '' ? null : { protocol, take };
    this.#take(request, response, asked);
  }
}

/**
 * The answer to a request whose connection the parser gave away: the connection ends with the answer, unless it is
 * taken to go on in another protocol.
 */
function answerOn(request: IncomingMessage, socket: Socket): { response: ServerResponse; take: () => Socket } {
  const response = new Response(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  socket.on('error', () => undefined); // `close` follows.
  const drained = (): boolean => response.emit('drain');
  const left = (): unknown => socket.destroy();
  const answered = (): void => socket.destroySoon();
  socket.on('drain', drained).once('end', left);
  response.once('finish', answered);
  socket.read(0); // So that it is seen when the client leaves; at most one buffer is read.
  const take = (): Socket => {
    socket.off('drain', drained).off('end', left);
    response.off('finish', answered);
    response.detachSocket(socket);
    return socket;
  };
  return { response, take };
}

function redirect(request: IncomingMessage, response: ServerResponse, port: number): void {
  const host = (request.headers.host ?? '').replace(/:\d*$/, '');
  const location = `https://${host}${port === 443 ? '' : `:${port}`}${request.url ?? '/'}`;
  response.writeHead(308, { Location: location, 'Content-Length': 0 });
  response.end();
}

const peers = new WeakMap<object, Peer>();

/** Computed once for each connection. */
function peerOfSocket(socket: IncomingMessage['socket']): Peer {
  let peer = peers.get(socket);
  if (peer === undefined) {
    peer = peerOf(socket.remoteAddress ?? 'unknown', 'encrypted' in socket ? 'https' : 'http');
    peers.set(socket, peer);
  }
  return peer;
}
