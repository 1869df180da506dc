import type { Socket } from 'node:net';
import {
  type Header,
  type JsonObject,
  openEnvelope,
  type SigningKey,
  signEnvelope,
  type Timers,
  type VerificationKey,
} from '@idunn/kernel';
import { lineReader } from '@idunn/readiness';
import { ANSWERS, type AnswerTo, type Command, isWordType, WORDS, type Word, type WordType } from './messages.ts';

/** Commands that may wait for their answers at once. */
const PENDING_LIMIT = 16;
/** What may wait to be sent to a program that does not read; beyond it the connection is given up. */
const OUTBOX_LIMIT_BYTES = 1_048_576;

/** Whom a connection speaks to, and for whom. */
export interface Peer {
  readonly activation: string;
  readonly activationKey: VerificationKey;
  readonly audience: Header['audience'];
  readonly authorityKey: SigningKey;
}

export interface ConnectionEvents {
  /** An envelope that says it is a presence; the receiver verifies it. */
  readonly presence: (envelope: unknown) => void;
  readonly firstWrite: (word: Word<'first-write'>) => void;
  readonly closed: () => void;
  /** A message that was dropped, and why. */
  readonly dropped: (reason: string) => void;
}

interface Pending {
  readonly type: WordType;
  readonly promise: Promise<unknown>;
  readonly settle: (answer: unknown) => void;
}

/**
 * One connection to a program: commands go out signed by the authority, and each answer is paired by its request id.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #peer: Peer;
  readonly #timers: Timers;
  readonly #events: ConnectionEvents;
  readonly #pending = new Map<string, Pending>();
  #said = 0;
  #heard = 0;

  constructor(socket: Socket, peer: Peer, timers: Timers, events: ConnectionEvents) {
    this.#socket = socket;
    this.#peer = peer;
    this.#timers = timers;
    this.#events = events;
    const read = lineReader((type, envelope) => this.#receive(type, envelope));
    socket.on('data', (chunk: Buffer) => {
      if (read(chunk)) return;
      events.dropped('a line was no message of the protocol, or too long; the connection was ended');
      socket.destroy();
    });
    socket.on('error', () => {}); // Its close follows.
    socket.on('close', () => this.#end());
  }

  get open(): boolean {
    return !this.#socket.destroyed;
  }

  close(): void {
    this.#socket.destroy();
  }

  /** Sends a message that has no answer. */
  send(type: Command | 'welcome', fields: JsonObject, requestId: string): void {
    if (!this.open) return;
    const header = {
      schema: `idunn.channel-${type}/v1`,
      issuer: this.#peer.authorityKey.keyId,
      audience: this.#peer.audience,
      subject: this.#peer.activation,
      requestId,
      sequence: ++this.#said,
    };
    const envelope = signEnvelope({ header, ...fields }, [this.#peer.authorityKey]);
    this.#socket.write(`${JSON.stringify({ type, envelope })}\n`);
    if (this.#socket.writableLength > OUTBOX_LIMIT_BYTES) this.#socket.destroy();
  }

  /**
   * Sends a command and waits for its answer; `null` when none came in time or the connection ended. The same request
   * id again, while its answer is awaited, waits for that answer and sends nothing.
   */
  ask<C extends Command>(
    command: C,
    fields: JsonObject,
    requestId: string,
    withinMs: number,
  ): Promise<AnswerTo<C> | null> {
    const asked = this.#pending.get(requestId);
    if (asked !== undefined) return asked.promise as Promise<AnswerTo<C> | null>;
    if (!this.open || this.#pending.size >= PENDING_LIMIT) return Promise.resolve(null);
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const withdraw = this.#timers.after(withinMs, () => settle(null));
    const settle = (answer: unknown): void => {
      withdraw();
      this.#pending.delete(requestId);
      resolve(answer);
    };
    this.#pending.set(requestId, { type: ANSWERS[command], promise, settle });
    this.send(command, fields, requestId);
    // What settles it was parsed by the schema of exactly this answer.
    return promise as Promise<AnswerTo<C> | null>;
  }

  #receive(type: string, envelope: unknown): void {
    if (type === 'presence') this.#events.presence(envelope);
    else if (isWordType(type)) this.#hear(type, envelope);
    else this.#events.dropped(`${type}: an unknown message`);
  }

  /** A word counts when this activation's key signed it for us, and no sequence comes twice (I5). */
  #hear(type: WordType, envelope: unknown): void {
    const opened = openEnvelope<Word<WordType>>({
      envelope,
      keys: [this.#peer.activationKey],
      schema: `idunn.channel-${type}/v1`,
      shape: WORDS[type],
      audience: this.#peer.audience,
      subject: this.#peer.activation,
    });
    if (!opened.ok) return this.#events.dropped(`${type}: ${opened.refusal.reason}`);
    const word = opened.value.payload;
    if (word.header.sequence <= this.#heard) return this.#events.dropped(`${type}: its sequence was heard before`);
    this.#heard = word.header.sequence;
    if (type === 'first-write') return this.#events.firstWrite(word as Word<'first-write'>);
    const pending = this.#pending.get(word.header.requestId);
    if (pending?.type === type) pending.settle(word);
    else this.#events.dropped(`${type}: nobody waits for it`);
  }

  #end(): void {
    for (const pending of this.#pending.values()) pending.settle(null);
    this.#events.closed();
  }
}
