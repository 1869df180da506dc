import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { NetworkProfile } from '@idunn/release';
import { connectDestination, type Destination, isAdmitted, placeOf, requestDestination } from './destination.ts';
import { forgetSocket, listenIn } from './socket.ts';

/** A connection that is silent in both directions for so long is given up. */
const SILENCE_MS = 120_000;
const CONNECT_MS = 30_000;
const HEADERS_LIMIT_BYTES = 16_384;
/** Refused places that are told by name; a step that asks for more of them is not told of each. */
const TOLD_LIMIT = 100;

export interface Egress {
  /** The socket's path on the host. */
  readonly socket: string;
  /** Places that were connected to, in order of name. */
  contacted(): readonly string[];
  /** Why something was refused last, as a sentence; `null` if nothing was. */
  refused(): string | null;
  close(): Promise<void>;
}

/**
 * The only way out of a sandbox: a proxy on a Unix socket that connects to exactly the places of a profile, by CONNECT
 * or by plain requests in absolute form, within the profile's limits. Names are resolved here; the sandbox has no
 * resolver. A step's connections end with it.
 */
export async function openEgress(
  directory: string,
  profile: NetworkProfile,
  line: (text: string) => void,
): Promise<Egress> {
  const proxy = new Proxy(profile, line);
  const socket = await listenIn(directory, proxy.server);
  return {
    socket,
    contacted: () => [...proxy.contacted].toSorted(),
    refused: () => proxy.refusal,
    async close() {
      await proxy.close();
      await forgetSocket(directory);
    },
  };
}

class Proxy {
  readonly server: Server;
  readonly contacted = new Set<string>();
  refusal: string | null = null;
  readonly #profile: NetworkProfile;
  readonly #line: (text: string) => void;
  readonly #outside = new Set<Socket>();
  readonly #told = new Set<string>();
  #bytes = 0;

  constructor(profile: NetworkProfile, line: (text: string) => void) {
    this.#profile = profile;
    this.#line = line;
    this.server = createServer({ maxHeaderSize: HEADERS_LIMIT_BYTES, requestTimeout: 0 });
    this.server.maxConnections = profile.connections * 2;
    this.server.on('connect', (request: IncomingMessage, inside: Duplex, head: Buffer) =>
      this.#tunnel(request, inside as Socket, head),
    );
    this.server.on('request', (request, response) => this.#forward(request, response));
    this.server.on('clientError', (_error, inside) => inside.destroy());
  }

  close(): Promise<void> {
    for (const socket of this.#outside) socket.destroy();
    return new Promise((resolve) => {
      this.server.close(() => resolve());
      this.server.closeAllConnections();
    });
  }

  #tunnel(request: IncomingMessage, inside: Socket, head: Buffer): void {
    inside.on('error', () => inside.destroy());
    const destination = connectDestination(request.url ?? '');
    const why = this.#whyNot(destination, request.url ?? '');
    if (why !== null || destination === null) {
      inside.end(`HTTP/1.1 403 Forbidden\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n${why}\n`);
      return;
    }
    const outside = this.#reach(destination, () => {
      inside.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      if (head.length > 0) outside.write(head);
      inside.pipe(outside).pipe(inside);
    });
    inside.on('data', (chunk: Buffer) => this.#count(chunk.length));
    inside.once('close', () => outside.destroy());
    outside.once('close', () => inside.destroy());
  }

  #forward(request: IncomingMessage, response: ServerResponse): void {
    const destination = requestDestination(request.url ?? '');
    const why = this.#whyNot(destination, request.url ?? '');
    if (why !== null || destination === null) {
      response.writeHead(403, { 'content-type': 'text/plain', connection: 'close' }).end(`${why}\n`);
      return;
    }
    const { 'proxy-connection': _, 'proxy-authorization': __, connection: ___, ...headers } = request.headers;
    const outgoing = httpRequest(
      {
        method: request.method ?? 'GET',
        path: destination.path,
        headers: { ...headers, host: destination.port === 80 ? destination.host : placeOf(destination) },
        createConnection: () => this.#reach(destination, () => undefined),
      },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    outgoing.once('error', () => (response.headersSent ? response.destroy() : response.writeHead(502).end()));
    response.once('close', () => outgoing.destroy());
    request.on('data', (chunk: Buffer) => this.#count(chunk.length));
    request.pipe(outgoing);
  }

  #reach(destination: Destination, connected: () => void): Socket {
    const socket = connect({ host: destination.host, port: destination.port, timeout: CONNECT_MS });
    this.#outside.add(socket);
    socket.once('connect', () => {
      socket.setTimeout(SILENCE_MS);
      this.contacted.add(placeOf(destination));
      connected();
    });
    socket.once('timeout', () => socket.destroy());
    socket.on('error', ({ message }) => this.#tell(`${placeOf(destination)} could not be reached: ${message}`));
    socket.on('data', (chunk: Buffer) => this.#count(chunk.length));
    socket.once('close', () => this.#outside.delete(socket));
    return socket;
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= this.#profile.maxBytes) return;
    this.refusal = `The step moved more than the ${this.#profile.maxBytes} bytes of network ${this.#profile.name}.`;
    for (const socket of this.#outside) socket.destroy();
  }

  #whyNot(destination: Destination | null, asked: string): string | null {
    const { name, connections, maxBytes } = this.#profile;
    const why = (): string | null => {
      if (destination === null) return `network ${name}: ${asked.slice(0, 200)} is neither host:port nor an http URL`;
      if (!isAdmitted(this.#profile, destination)) return `network ${name} does not admit ${placeOf(destination)}`;
      if (this.#outside.size >= connections) return `network ${name}: ${connections} connections are open already`;
      return this.#bytes > maxBytes ? `network ${name}: its ${maxBytes} bytes are used up` : null;
    };
    const because = why();
    if (because !== null) {
      this.refusal = `${because.charAt(0).toUpperCase()}${because.slice(1)}.`;
      this.#tell(because);
    }
    return because;
  }

  #tell(text: string): void {
    if (this.#told.has(text) || this.#told.size >= TOLD_LIMIT) return;
    this.#told.add(text);
    this.#line(text);
  }
}
