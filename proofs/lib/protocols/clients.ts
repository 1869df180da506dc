import { createHash } from 'node:crypto';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';

/** What clients of one kind met. */
export class Tally {
  readonly name: string;
  done = 0;
  /** Connections that their drain ended with notice; their clients came again. */
  told = 0;
  readonly failures: string[] = [];

  constructor(name: string) {
    this.name = name;
  }

  failed(why: unknown): void {
    this.failures.push(`${this.name}: ${why instanceof Error ? why.message : String(why)}`);
  }
}

/** A loop that goes on until it is told to stop; what it throws is a failure of its kind. */
function loop(tally: Tally, signal: AbortSignal, once: () => Promise<void>): Promise<void> {
  const go = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        await once();
      } catch (error) {
        tally.failed(error);
      }
    }
  };
  return go();
}

const REST_MS = 20;
/** Large bodies are dear to everybody on the machine. */
const BODY_REST_MS = 200;

/** Sends a message, waits for its answer, again and again on one connection, until that is ended with 1001. */
export function chat(port: number, tally: Tally, signal: AbortSignal): Promise<void> {
  return loop(tally, signal, async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/chat`);
    let said = 0;
    const ended = new Promise<number>((resolve, reject) => socket.once('close', resolve).once('error', reject));
    socket.on('open', () => socket.send(`${said}`));
    socket.on('message', (data) => {
      if (!(data as Buffer).toString().endsWith(` ${said}`)) tally.failed('another answer than to what was said');
      said++;
      tally.done++;
      if (signal.aborted) socket.close(1000);
      else setTimeout(() => socket.readyState === WebSocket.OPEN && socket.send(`${said}`), REST_MS);
    });
    const code = await ended;
    if (code === 1001) tally.told++;
    else if (code !== 1000) tally.failed(`closed with ${code}`);
  });
}

/** Reads a stream of events, each of which carries the time at which it was sent, until it is ended whole. */
export function listen(port: number, tally: Tally, delaysMs: number[], signal: AbortSignal): Promise<void> {
  return loop(tally, signal, async () => {
    const heard = (delayMs: number): void => {
      delaysMs.push(delayMs);
      tally.done++;
    };
    const ended = await events(port, heard, signal);
    if (ended === 'whole') tally.told++;
  });
}

/**
 * Reads the same events straight from the service, for comparison: what they take without the router. Its connections
 * are cut when the service ends; then the one that serves is asked for again.
 */
export async function listenStraight(
  serving: () => Promise<number>,
  delaysMs: number[],
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await events(await serving(), (delayMs) => delaysMs.push(delayMs), signal);
    } catch {
      await pause(REST_MS);
    }
  }
}

async function events(port: number, heard: (delayMs: number) => void, signal: AbortSignal): Promise<'whole' | 'left'> {
  const answer = await ask(port, 'GET', '/events');
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      answer.destroy();
      resolve('left');
    };
    signal.addEventListener('abort', leave, { once: true });
    answer.on('data', (chunk: Buffer) => {
      const at = performance.timeOrigin + performance.now();
      for (const [, sent] of chunk.toString().matchAll(/data: ([\d.]+)\n/g)) heard(at - Number(sent));
    });
    answer.once('end', () => resolve('whole'));
    answer.once('error', (error) => (signal.aborted ? resolve('left') : reject(error)));
    answer.once('close', () => signal.removeEventListener('abort', leave));
  });
}

const block = Buffer.alloc(1_048_576, 'protocols');
const digest = createHash('sha256').update(block).digest('hex');

/** Downloads, uploads and asks for the head of a large body, in turn. */
export function carry(port: number, tally: Tally, signal: AbortSignal): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return loop(tally, signal, async () => {
    const got = await bytesOf(await ask(port, 'GET', '/block', { agent }));
    if (!got.equals(block)) tally.failed('another body than was sent');
    const head = await ask(port, 'HEAD', '/block', { agent });
    if ((await bytesOf(head)).length > 0 || head.headers['content-length'] !== String(block.length)) {
      tally.failed('a head with a body, or without its length');
    }
    const said = await bytesOf(await ask(port, 'POST', '/upload', { agent, body: block }));
    if (said.toString() !== digest) tally.failed('the upload did not arrive as it was sent');
    tally.done += 3;
    await pause(BODY_REST_MS);
  }).finally(() => agent.destroy());
}

function ask(
  port: number,
  method: string,
  path: string,
  { agent, body }: { agent?: Agent; body?: Buffer } = {},
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { 'Content-Length': body.length };
    const sent = request({ host: '127.0.0.1', port, method, path, headers, agent: agent ?? false }, (answer) => {
      if (answer.statusCode === 200) return resolve(answer);
      answer.resume();
      reject(new Error(`${method} ${path}: ${answer.statusCode}`));
    });
    sent.once('error', (error) => reject(new Error(`${method} ${path}: ${error.message}`)));
    sent.end(body);
  });
}

async function bytesOf(answer: IncomingMessage): Promise<Buffer> {
  return Buffer.concat((await answer.toArray()) as Buffer[]);
}

/** Sends a line and waits for it to come back, again and again on one connection, until the other side ends it. */
export function talk(port: number, tally: Tally, signal: AbortSignal): Promise<void> {
  return loop(tally, signal, () => {
    const socket = connect(port, '127.0.0.1');
    let said = 0;
    let got = '';
    const say = (): unknown => socket.write(`${said}\n`);
    socket.on('connect', say);
    socket.on('data', (chunk: Buffer) => {
      got += chunk.toString();
      if (!got.endsWith('\n')) return;
      if (got !== `${said}\n`) tally.failed(`sent ${said}, got ${got}`);
      got = '';
      said++;
      tally.done++;
      if (signal.aborted) socket.end();
      else setTimeout(() => socket.writable && say(), REST_MS);
    });
    return new Promise((resolve, reject) => {
      socket.once('end', () => {
        if (!signal.aborted) tally.told++;
        socket.end();
      });
      socket.once('close', (failed) => failed || resolve());
      socket.once('error', reject);
    });
  });
}
