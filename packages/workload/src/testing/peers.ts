import { EventEmitter, once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { LineReader } from '../edge/lines.ts';
import type { Program } from '../edge/program.ts';
import type { Envelope } from '../words/envelope.ts';
import type { JsonObject } from '../words/json.ts';
import { command, payloadOf } from './authority.ts';
import { CHALLENGE } from './vectors.ts';

export interface Heard {
  readonly type: string;
  readonly envelope: Envelope;
  readonly payload: Record<string, unknown> & { readonly header: { requestId: string; sequence: number } };
}

/** Keeps what came, and hands it out in order to whoever waits for it. */
class Inbox {
  readonly #heard: Heard[] = [];
  readonly #events = new EventEmitter();
  #taken = 0;

  push(value: unknown): void {
    const message = value as Omit<Heard, 'payload'>;
    this.#heard.push({ ...message, payload: payloadOf(message.envelope) as Heard['payload'] });
    this.#events.emit('message');
  }

  /** The next message that fits; those before it are passed over. */
  async next(fits: (message: Heard) => boolean): Promise<Heard> {
    for (;;) {
      while (this.#taken < this.#heard.length) {
        const message = this.#heard[this.#taken++];
        if (message !== undefined && fits(message)) return message;
      }
      await once(this.#events, 'message');
    }
  }
}

function receive(socket: Socket, inbox: Inbox): void {
  const reader = new LineReader();
  socket.on('data', (chunk) => {
    for (const value of reader.push(chunk as Buffer) ?? []) inbox.push(value);
  });
  socket.on('error', () => {});
}

/** The observer's socket: hears presences. */
export class ObserverPeer {
  readonly inbox = new Inbox();
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor() {
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      receive(socket, this.inbox);
    });
  }

  async listen(path: string): Promise<void> {
    this.#server.listen(path);
    await once(this.#server, 'listening');
  }

  presence(state: string): Promise<Heard> {
    return this.inbox.next((message) => message.type === 'presence' && message.payload['state'] === state);
  }

  answer(line: unknown): void {
    for (const socket of this.#sockets) socket.write(`${JSON.stringify(line)}\n`);
  }

  /** Dies: every connection is lost. */
  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

/** The authority's side of the channel. */
export class AuthorityPeer {
  readonly inbox = new Inbox();
  readonly socket: Socket;
  #sequence = 0;

  constructor(path: string) {
    this.socket = connect(path);
    receive(this.socket, this.inbox);
  }

  say(type: string, fields: JsonObject): string {
    const message = command(type, fields, ++this.#sequence);
    this.socket.write(`${JSON.stringify(message)}\n`);
    return `req-${this.#sequence}`;
  }

  /** Proves both sides; resolves with the proof. */
  async open(): Promise<Heard> {
    this.say('hello', { challenge: CHALLENGE });
    const proof = await this.heard('proof');
    this.say('welcome', { counterChallenge: String(proof.payload['counterChallenge']) });
    return proof;
  }

  heard(type: string): Promise<Heard> {
    return this.inbox.next((message) => message.type === type);
  }

  presence(fits: (payload: Heard['payload']) => boolean): Promise<Heard> {
    return this.inbox.next((message) => message.type === 'presence' && fits(message.payload));
  }

  close(): void {
    this.socket.destroy();
  }
}

/** A process that only remembers. */
export class FakeProgram implements Program {
  readonly pid = 4242;
  readonly lines: string[] = [];
  readonly #exit = Promise.withResolvers<number>();
  readonly #environment: Readonly<Record<string, string>>;
  #terminate = (): void => {};

  constructor(environment: Readonly<Record<string, string>> = {}) {
    this.#environment = environment;
  }

  environment(name: string): string | undefined {
    return this.#environment[name];
  }

  onTermination(fire: () => void): void {
    this.#terminate = fire;
  }

  exit(code: number): void {
    this.#exit.resolve(code);
  }

  log(line: string): void {
    this.lines.push(line);
  }

  /** As SIGTERM; resolves with the exit code. */
  terminate(): Promise<number> {
    this.#terminate();
    return this.#exit.promise;
  }
}
