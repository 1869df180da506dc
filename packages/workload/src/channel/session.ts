import { messageOf } from '../errors.ts';
import type { LaunchDocument } from '../launch/document.ts';
import type { Grant, Relinquishment } from '../lease/holder.ts';
import { publicKeyFromBase64, type SigningKey } from '../words/envelope.ts';
import type { JsonObject } from '../words/json.ts';
import { type Incoming, type OutgoingType, type Received, readMessage, signMessage } from './message.ts';

/** What the program does for the authority, once both sides are proven. */
export interface Commands {
  readonly echo: () => Readonly<Record<string, string | null>>;
  /** Calls `done` when the writes in flight have ended: before it returns, when there are none. */
  readonly relinquish: (request: Relinquishment, done: (lastWriteAtMs: number | null) => void) => void;
  /** Answers whether the program writes now. */
  readonly withdraw: (relinquishId: string) => boolean;
  /** Called after `granted` was sent. */
  readonly grant: (grant: Grant) => void;
  /** A fresh connection was proven. */
  readonly welcomed: () => void;
}

/** Whom a session speaks for. */
export interface SessionIdentity {
  readonly launch: LaunchDocument;
  readonly key: SigningKey;
  readonly pid: number;
  /** 64 hexadecimal digits, fresh for each connection. */
  readonly counterChallenge: string;
}

type Stage = 'silent' | 'challenged' | 'proven';

/** One connection of the authority, from its first word. Commands count only after the mutual proof (I5). */
export class ChannelSession {
  readonly #identity: SessionIdentity;
  readonly #authority;
  readonly #commands: Commands;
  readonly #transmit: (message: unknown) => void;
  readonly #log: (line: string) => void;
  #stage: Stage = 'silent';
  #heard = 0;
  #said = 0;

  constructor(
    identity: SessionIdentity,
    commands: Commands,
    transmit: (message: unknown) => void,
    log: (line: string) => void,
  ) {
    this.#identity = identity;
    this.#authority = publicKeyFromBase64(identity.launch.authority.publicKey);
    this.#commands = commands;
    this.#transmit = transmit;
    this.#log = log;
  }

  get proven(): boolean {
    return this.#stage === 'proven';
  }

  /** One message of the other side. What does not fit is dropped, and the log says why. */
  receive(line: unknown): void {
    let received: Received;
    try {
      received = readMessage(line, this.#identity.launch, this.#authority);
      if (received.sequence <= this.#heard) throw new SyntaxError(`sequence ${received.sequence} was heard before`);
      this.#expect(received.message);
    } catch (error) {
      this.#log(`dropped a message: ${messageOf(error)}`);
      return;
    }
    this.#heard = received.sequence;
    this.#answer(received.message, received.requestId);
  }

  /** A message of our own; dropped while the connection is not proven. */
  send(type: OutgoingType, fields: JsonObject, requestId: string): void {
    const header = { requestId, sequence: ++this.#said };
    this.#transmit(signMessage(type, fields, header, this.#identity.launch, this.#identity.key));
  }

  #expect(message: Incoming): void {
    const stage: Stage = message.type === 'hello' ? 'silent' : message.type === 'welcome' ? 'challenged' : 'proven';
    if (stage !== this.#stage) throw new SyntaxError(`${message.type}: out of turn`);
    if (message.type === 'welcome' && message.counterChallenge !== this.#identity.counterChallenge) {
      throw new SyntaxError('welcome: another counter-challenge');
    }
  }

  #answer(message: Incoming, requestId: string): void {
    switch (message.type) {
      case 'hello': {
        const { counterChallenge, pid } = this.#identity;
        this.#stage = 'challenged';
        this.send('proof', { challenge: message.challenge, counterChallenge, pid }, requestId);
        return;
      }
      case 'welcome':
        this.#stage = 'proven';
        this.#commands.welcomed();
        return;
      case 'echo':
        this.send('echoed', { nonces: this.#commands.echo() }, requestId);
        return;
      case 'relinquish':
        this.#commands.relinquish({ requestId, epoch: message.epoch, termMs: message.termMs }, (lastWriteAtMs) => {
          this.send('relinquished', { epoch: message.epoch, lastWriteAtMs }, requestId);
        });
        return;
      case 'withdraw':
        this.send('withdrawn', { writing: this.#commands.withdraw(message.relinquishId) }, requestId);
        return;
      case 'grant':
        this.send('granted', { epoch: message.epoch }, requestId);
        this.#commands.grant({ stateId: message.stateId, epoch: message.epoch });
        return;
    }
  }
}
