import { connect, type Socket } from 'node:net';
import { type Code, type Outcome, ok, type Refusal, refusal, refused, type Timers } from '@idunn/kernel';
import { readLines, writeLine } from './lines.ts';

export type Answer<T> =
  | { readonly kind: 'value'; readonly value: T }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /** Nothing was sent. */
  | { readonly kind: 'unreachable'; readonly because: string }
  /** It was sent, and may have been carried out (F8). */
  | { readonly kind: 'lost'; readonly because: string };

/** A helper's name for people, and the codes of its silence: before it was asked anything, and after. */
export interface HelperName {
  /** `router`. */
  readonly name: string;
  readonly unreachable: Code;
  readonly lost: Code;
}

export function outcomeOf<T>(answer: Answer<T>, { name, unreachable, lost }: HelperName): Outcome<T> {
  switch (answer.kind) {
    case 'value':
      return ok(answer.value);
    case 'refused':
      return refused(answer.refusal);
    case 'unreachable':
      return refused(refusal(unreachable, `The ${name} does not answer: ${answer.because}.`));
    case 'lost':
      return refused(refusal(lost, `The ${name} was asked, but ${answer.because}.`));
  }
}

/** What may be asked of a helper, by operation (`hello` among them), what it answers, and what it tells unasked. */
export interface HelperProtocol {
  readonly asks: { readonly hello: object };
  readonly answers: { readonly hello: object };
  readonly notice: object;
}

type Operation<P extends HelperProtocol> = keyof P['asks'] & keyof P['answers'] & string;

interface Pending {
  readonly settle: (answer: Answer<unknown>) => void;
}

type Reply =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | { readonly id: number; readonly ok: false; readonly refusal: Refusal };

export interface LinkOptions<P extends HelperProtocol> extends HelperName {
  readonly controlSocket: string;
  readonly greeting: P['asks']['hello'];
  readonly timers: Timers;
  readonly state: (state: 'up' | 'down') => void;
  readonly notice: (notice: P['notice']) => void;
  /** Told of each message, before what it says is. */
  readonly heard?: () => void;
}

const HELLO_MS = 2_000;
/** How long nothing is asked before it is greeted anew, and how long a helper may then say nothing. */
const SILENCE_MS = { before: 5_000, after: 10_000 } as const;

/**
 * One persistent connection to a helper's control socket. It never reconnects by itself. One on which nothing is
 * answered any more is down, whatever the socket says (I10).
 */
export class ControlLink<P extends HelperProtocol> {
  readonly #options: LinkOptions<P>;
  readonly #pending = new Map<number, Pending>();
  #socket: Socket | null = null;
  #hello: P['answers']['hello'] | null = null;
  #nextId = 1;
  #cancelGreeting: (() => void) | null = null;
  #isMute = false;

  constructor(options: LinkOptions<P>) {
    this.#options = options;
  }

  /** The helper's own word about itself; `null` while the link is down. */
  get hello(): P['answers']['hello'] | null {
    return this.#hello;
  }

  /** The last connection was there and nothing was answered on it: the helper hangs. */
  get isMute(): boolean {
    return this.#isMute;
  }

  /** Connects and greets; a link that is up stays as it is. */
  async connect(): Promise<Outcome<P['answers']['hello']>> {
    if (this.#hello !== null) return ok(this.#hello);
    this.#isMute = false;
    const socket = await open(this.#options.controlSocket);
    if (typeof socket === 'string') return outcomeOf<never>(unreached(socket), this.#options);
    this.#socket = socket;
    socket.on('error', () => undefined); // `close` follows.
    socket.on('close', () => this.#closed(socket));
    readLines(socket, (message) => this.#take(message as Reply | P['notice']));
    const answer = await this.#ask<P['answers']['hello']>(socket, 'hello', this.#options.greeting, HELLO_MS);
    if (answer.kind === 'value') {
      this.#hello = answer.value;
      this.#greetAgain(socket);
      this.#options.state('up');
      return ok(answer.value);
    }
    this.#isMute = answer.kind === 'lost' && !socket.destroyed;
    socket.destroy();
    return outcomeOf<never>(answer.kind === 'refused' ? answer : unreached(answer.because), this.#options);
  }

  call<O extends Operation<P>>(op: O, ask: P['asks'][O], withinMs: number): Promise<Answer<P['answers'][O]>> {
    if (this.#socket === null || this.#hello === null) {
      return Promise.resolve(unreached(`the link to the ${this.#options.name} is down`));
    }
    return this.#ask(this.#socket, op, ask as object, withinMs);
  }

  close(): void {
    this.#socket?.destroy();
  }

  #ask<T>(socket: Socket, op: string, ask: object, withinMs: number): Promise<Answer<T>> {
    const id = this.#nextId++;
    return new Promise((resolve) => {
      const withdraw = this.#options.timers.after(withinMs, () => {
        this.#pending.delete(id);
        resolve({ kind: 'lost', because: `the ${this.#options.name} did not answer ${op} within ${withinMs} ms` });
      });
      const settle = (answer: Answer<unknown>): void => {
        withdraw();
        resolve(answer as Answer<T>);
      };
      this.#pending.set(id, { settle });
      writeLine(socket, { id, op, ask });
    });
  }

  #greetAgain(socket: Socket): void {
    this.#cancelGreeting = this.#options.timers.after(SILENCE_MS.before, () => void this.#greet(socket));
  }

  async #greet(socket: Socket): Promise<void> {
    const answer = await this.#ask(socket, 'hello', this.#options.greeting, SILENCE_MS.after);
    if (this.#socket !== socket) return;
    this.#isMute = answer.kind === 'lost';
    if (this.#isMute) socket.destroy();
    else this.#greetAgain(socket);
  }

  #take(message: Reply | P['notice']): void {
    this.#options.heard?.();
    if (!('id' in message)) {
      this.#options.notice(message);
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
    this.#cancelGreeting?.();
    this.#socket = null;
    this.#hello = null;
    const lost = [...this.#pending.values()];
    this.#pending.clear();
    for (const { settle } of lost) {
      settle({ kind: 'lost', because: `the connection to the ${this.#options.name} ended` });
    }
    if (wasUp) this.#options.state('down');
  }
}

const unreached = (because: string): Answer<never> => ({ kind: 'unreachable', because });

/** The connected socket, or why there is none. */
function open(path: string): Promise<Socket | string> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('error', (error) => resolve(error.message));
    socket.once('connect', () => resolve(socket));
  });
}
