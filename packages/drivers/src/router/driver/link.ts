import { connect, type Socket } from 'node:net';
import type { RouteEvent } from '@idunn/authority';
import { type Outcome, ok, type Refusal, refusal, refused, type Timers } from '@idunn/kernel';
import { readLines, writeLine } from '../control/lines.ts';
import {
  type Answers,
  type Ask,
  type Hello,
  type Notice,
  type Operation,
  PROTOCOL,
  type Reply,
} from '../control/protocol.ts';

export type Answer<T> =
  | { readonly kind: 'value'; readonly value: T }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /** Nothing was sent. */
  | { readonly kind: 'unreachable'; readonly because: string }
  /** It was sent, and may have been carried out (F8). */
  | { readonly kind: 'lost'; readonly because: string };

interface Pending {
  readonly settle: (answer: Answer<unknown>) => void;
}

export interface LinkOptions {
  readonly controlSocket: string;
  readonly fleet: string;
  readonly timers: Timers;
  readonly event: (event: RouteEvent) => void;
}

const HELLO_MS = 2_000;

/** One persistent connection to the router's control socket. It never reconnects by itself. */
export class ControlLink {
  readonly #options: LinkOptions;
  readonly #pending = new Map<number, Pending>();
  #socket: Socket | null = null;
  #hello: Hello | null = null;
  #nextId = 1;

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  /** The router's own word about itself; `null` while the link is down. */
  get hello(): Hello | null {
    return this.#hello;
  }

  /** Connects and greets; a link that is up stays as it is. */
  async connect(): Promise<Outcome<Hello>> {
    if (this.#hello !== null) return ok(this.#hello);
    const socket = await open(this.#options.controlSocket);
    if (typeof socket === 'string') return unreachable(socket);
    this.#socket = socket;
    socket.on('error', () => undefined); // `close` follows.
    socket.on('close', () => this.#closed(socket));
    readLines(socket, (message) => this.#take(message as Reply | Notice));
    const answer = await this.call('hello', { protocol: PROTOCOL, fleet: this.#options.fleet }, HELLO_MS);
    if (answer.kind === 'value') {
      this.#hello = answer.value;
      this.#options.event({ kind: 'link', state: 'up' });
      return ok(answer.value);
    }
    socket.destroy();
    return answer.kind === 'refused' ? refused(answer.refusal) : unreachable(answer.because);
  }

  call<O extends Operation>(op: O, ask: Ask<O>, withinMs: number): Promise<Answer<Answers[O]>> {
    const socket = this.#socket;
    if (socket === null || (op !== 'hello' && this.#hello === null)) {
      return Promise.resolve({ kind: 'unreachable', because: 'the link to the router is down' });
    }
    const id = this.#nextId++;
    return new Promise((resolve) => {
      const withdraw = this.#options.timers.after(withinMs, () => {
        this.#pending.delete(id);
        resolve({ kind: 'lost', because: `the router did not answer ${op} within ${withinMs} ms` });
      });
      const settle = (answer: Answer<unknown>): void => {
        withdraw();
        resolve(answer as Answer<Answers[O]>);
      };
      this.#pending.set(id, { settle });
      writeLine(socket, { id, op, ask });
    });
  }

  close(): void {
    this.#socket?.destroy();
  }

  #take(message: Reply | Notice): void {
    if ('event' in message) {
      this.#options.event(message.event);
      return;
    }
    const pending = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    if (message.ok) pending?.settle({ kind: 'value', value: message.value });
    else pending?.settle({ kind: 'refused', refusal: message.refusal });
  }

  #closed(socket: Socket): void {
    if (this.#socket !== socket) return;
    const wasUp = this.#hello !== null;
    this.#socket = null;
    this.#hello = null;
    const lost = [...this.#pending.values()];
    this.#pending.clear();
    for (const { settle } of lost) settle({ kind: 'lost', because: 'the connection to the router ended' });
    if (wasUp) this.#options.event({ kind: 'link', state: 'down' });
  }
}

const unreachable = (because: string): Outcome<never> =>
  refused(refusal('router-unreachable', `The router does not answer: ${because}.`));

/** The connected socket, or why there is none. */
function open(path: string): Promise<Socket | string> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('error', (error) => resolve(error.message));
    socket.once('connect', () => resolve(socket));
  });
}
