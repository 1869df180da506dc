import {
  type Agent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request,
} from 'node:http';
import { connect, type Socket } from 'node:net';

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly trailers: NodeJS.Dict<string>;
  readonly body: string;
}

export interface Ask {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Uint8Array;
  readonly agent?: Agent;
}

/** One request on a connection of its own; rejects with a connection error. */
export async function ask(
  port: number,
  { method = 'GET', path = '/', headers = {}, body, agent }: Ask = {},
): Promise<Reply> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const attempt = request({ host: '127.0.0.1', port, method, path, headers, agent: agent ?? false }, resolve);
    attempt.on('error', reject);
    attempt.end(body);
  });
  return {
    status: answer.statusCode ?? 0,
    headers: answer.headers,
    body: await bodyOf(answer),
    trailers: answer.trailers,
  };
}

export async function bodyOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** A message of a WebSocket as text. */
export function textOf(data: Buffer | ArrayBuffer | readonly Buffer[]): string {
  if (data instanceof ArrayBuffer) return Buffer.from(data).toString('utf8');
  return Buffer.isBuffer(data) ? data.toString('utf8') : Buffer.concat(data).toString('utf8');
}

/** A raw connection: what is written goes out as it is, `until` resolves with all that came once it holds the text. */
export interface Wire {
  readonly socket: Socket;
  write(text: string): void;
  until(text: string): Promise<string>;
  /** Everything, once the other side has ended. */
  ended(): Promise<string>;
}

export async function wire(port: number): Promise<Wire> {
  const socket = connect(port, '127.0.0.1');
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  let received = '';
  const checks = new Set<() => void>();
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(received)));
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
    for (const check of checks) check();
  });
  return {
    socket,
    write: (text) => void socket.write(text, 'latin1'),
    ended: () => closed,
    until: (text) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          if (!received.includes(text)) return;
          checks.delete(check);
          resolve(received);
        };
        checks.add(check);
        socket.once('close', () => reject(new Error(`closed before ${JSON.stringify(text)} came: ${received}`)));
        check();
      }),
  };
}
