import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { RouteMember } from '@idunn/authority';

export type Handler = (request: IncomingMessage, response: ServerResponse, body: Buffer) => void;

export interface Backend {
  readonly server: Server;
  readonly member: RouteMember;
  readonly name: string;
  /** Requests that arrived, their header at least. */
  readonly seen: { method: string; url: string; headers: IncomingMessage['headers']; rawHeaders: string[] }[];
  close(): Promise<void>;
}

/** A member by name, at a port. */
export function memberAt(name: string, port: number): RouteMember {
  const digest = Buffer.from(name).toString('hex').padEnd(64, '0').slice(0, 64);
  return {
    incarnation: `web@sha256:${digest}`,
    activation: `activation-${name}`,
    backend: { host: '127.0.0.1', port },
  };
}

/** A backend in this process. The handler gets the whole body; without one it answers its name. */
export async function startBackend(name: string, handler?: Handler): Promise<Backend> {
  const seen: Backend['seen'] = [];
  const server = createServer((request, response) => {
    seen.push({
      method: request.method ?? '',
      url: request.url ?? '',
      headers: request.headers,
      rawHeaders: request.rawHeaders,
    });
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => undefined);
    request.on('end', () => {
      if (handler === undefined) response.end(name);
      else handler(request, response, Buffer.concat(chunks));
    });
  });
  return listening(name, server, seen);
}

/** A backend whose handler reads the request itself. */
export function startRawBackend(
  name: string,
  handler: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Backend> {
  return listening(name, createServer(handler), []);
}

async function listening(name: string, server: Server, seen: Backend['seen']): Promise<Backend> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  // Upgraded ones too, which the server knows nothing of.
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  return { server, member: memberAt(name, port), name, seen, close };
}

/** Answers 503 before effect, as a workload does that may not write. */
export function rejectBeforeEffect(response: ServerResponse): void {
  response.writeHead(503, { 'Retry-After': '1', 'Idunn-Rejected': 'before-effect' });
  response.end('not the writer');
}
