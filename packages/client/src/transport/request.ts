import type { IncomingMessage } from 'node:http';
import { type Answer, answered, declined } from '../answer.ts';
import { API_HEADER, API_VERSION } from '../api.ts';
import { whileAlive } from './while-alive.ts';

// Not imported: a module that imports node:http loads fetch and WebSocket with it, 15 ms and 13 MB.
const { request } = process.getBuiltinModule('node:http');

/** Longest answer that is read into memory; a plan of 10,000 files stays far below. */
const ANSWER_LIMIT_BYTES = 64 * 1024 * 1024;

export interface Ask {
  readonly socket: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/** Opens one request over the daemon's Unix socket; refused when nobody answers or another API version does. */
export function open(ask: Ask): Promise<Answer<IncomingMessage>> {
  return new Promise((resolve) => {
    const body = ask.body === undefined ? undefined : JSON.stringify(ask.body);
    const outgoing = request(
      {
        socketPath: ask.socket,
        method: ask.method,
        path: ask.path,
        headers: {
          host: 'idunn',
          [API_HEADER]: String(API_VERSION),
          ...(body === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
          ...ask.headers,
        },
        ...(ask.signal === undefined ? {} : { signal: ask.signal }),
      },
      (response) => {
        const spoken = response.headers[API_HEADER];
        if (spoken === String(API_VERSION)) return resolve(answered(response));
        response.destroy();
        resolve(
          declined(
            'api-version-mismatch',
            `the daemon speaks API version ${String(spoken ?? 'none')}, this program speaks ${API_VERSION}`,
            'Install the same version of Idunn on both sides, then run idunn daemon again.',
          ),
        );
      },
    );
    outgoing.on('error', (error) => resolve(unreachable(ask.socket, error)));
    outgoing.end(body);
  });
}

/** One request, one JSON answer. */
export const askJson = <T>(ask: Ask): Promise<Answer<T>> =>
  ofOneAlive(ask, async (asked) => {
    const opened = await open(asked);
    return opened.ok ? readAnswer(asked, opened.value) : opened;
  });

/** An answer is waited for as long as the daemon says anything at all. */
const ofOneAlive = <T>(ask: Ask, work: (ask: Ask) => Promise<Answer<T>>): Promise<Answer<T>> =>
  whileAlive({
    work: (signal) =>
      work({ ...ask, signal: ask.signal === undefined ? signal : AbortSignal.any([ask.signal, signal]) }),
    beat: async (signal) => {
      const said = await open({ socket: ask.socket, method: 'GET', path: '/v1/version', signal });
      if (said.ok) said.value.resume();
    },
    silent: (silentMs) => silent(ask.socket, silentMs),
  });

/** The JSON of an answer, or the refusal that it carries. */
export async function readAnswer<T>(ask: Pick<Ask, 'socket' | 'path'>, response: IncomingMessage): Promise<Answer<T>> {
  const text = await readText(response).catch((error: unknown) => unreachable(ask.socket, error));
  if (typeof text !== 'string') return text;
  const value = parse(text);
  if (value === undefined) return unexpected(ask.path, `status ${response.statusCode} without JSON`);
  if (response.statusCode === 200) return answered(value as T);
  const refusal = (value as { refusal?: unknown }).refusal;
  if (typeof refusal !== 'object' || refusal === null) {
    return unexpected(ask.path, `status ${response.statusCode}: ${text.slice(0, 200)}`);
  }
  return { ok: false, refusal: refusal as never };
}

/** One request, one text answer, such as the metrics. */
export const askText = (ask: Ask): Promise<Answer<string>> =>
  ofOneAlive(ask, async (asked) => {
    const opened = await open(asked);
    if (!opened.ok) return opened;
    const text = await readText(opened.value).catch((error: unknown) => unreachable(ask.socket, error));
    return typeof text === 'string' ? answered(text) : text;
  });

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > ANSWER_LIMIT_BYTES) throw new Error(`the answer is longer than ${ANSWER_LIMIT_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const unexpected = (path: string, what: string): Answer<never> =>
  declined('daemon-answer-unexpected', `${path} answered ${what}`, 'Run idunn doctor, and look at the daemon log.');

const silent = (socket: string, silentMs: number): Answer<never> =>
  declined(
    'daemon-silent',
    `the daemon takes connections on ${socket} and has answered nothing for ${silentMs / 1_000} s`,
    'Wait while its machine is busy. If its process is stopped, send it SIGCONT; if it hangs, end it with SIGKILL and run idunn daemon --detach: what runs stays up.',
  );

function unreachable(socket: string, error: unknown): Answer<never> {
  const code = (error as NodeJS.ErrnoException).code;
  const why =
    code === 'ENOENT'
      ? 'it is not there'
      : code === 'ECONNREFUSED'
        ? 'nobody listens on it'
        : code === 'EACCES'
          ? 'it belongs to another user'
          : (error as Error).message;
  return declined(
    'daemon-unreachable',
    `the daemon does not answer on ${socket}: ${why}`,
    code === 'EACCES' ? 'Run the command as the user that runs the daemon.' : 'Run idunn daemon --detach.',
  );
}
