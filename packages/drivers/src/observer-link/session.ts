import {
  type Digest,
  digestBytes,
  digestJson,
  type Envelope,
  type Header,
  type Ids,
  type Outcome,
  ok,
  openEnvelope,
  refusal,
  refused,
  type Shape,
  type SigningKey,
  signEnvelope,
  type VerificationKey,
} from '@idunn/kernel';
import {
  ackSchema,
  batchSchema,
  type IncarnationKey,
  LINK_SCHEMAS,
  type LinkLineType,
  lineReader,
  type ObserverRequest,
  type PresentStatement,
  presentStatementSchema,
  type ReadyReceipt,
  readyReceiptSchema,
  type Standing,
  welcomeSchema,
} from '@idunn/readiness';
import type { z } from 'zod';

/** Who the observer is itself, as it signed it on this connection. */
export interface ObserverSelf {
  readonly incarnation: IncarnationKey;
  readonly activation: string;
}

/** What the observer said, verified. */
export type ObserverWord =
  | { readonly kind: 'welcome'; readonly self: ObserverSelf }
  | { readonly kind: 'statement'; readonly statement: PresentStatement }
  | { readonly kind: 'receipt'; readonly receipt: ReadyReceipt; readonly digest: Digest; readonly envelope: Envelope }
  | {
      readonly kind: 'standings';
      readonly standings: readonly Standing[];
      readonly roster: 'refresh' | 'roster' | 'roster-end';
    }
  | {
      readonly kind: 'ack';
      readonly requestId: string;
      readonly refusal: { readonly code: string; readonly reason: string } | null;
    };

/** What a session needs of a socket. */
export interface Connection {
  on(event: 'data', take: (chunk: Buffer) => void): unknown;
  write(text: string): unknown;
  destroy(): unknown;
}

export interface SessionOptions {
  readonly audience: Header['audience'];
  readonly authority: SigningKey;
  /** The trust anchor of the observer's target: nothing else can sign what counts here. */
  readonly observer: VerificationKey;
  readonly ids: Ids;
  readonly log: (text: string) => void;
}

/**
 * One connection to the observer. It greets with a fresh challenge; what follows the signed welcome must have rising
 * sequences, so that nothing that was said on an earlier connection counts on this one (I5).
 */
export class Session {
  readonly #socket: Connection;
  readonly #options: SessionOptions;
  readonly #challenge: string;
  /** The last sequence of the observer; `null` before its welcome. */
  #heard: number | null = null;
  #requestSequence = 0;

  constructor(socket: Connection, options: SessionOptions, hear: (word: ObserverWord) => void) {
    this.#socket = socket;
    this.#options = options;
    this.#challenge = digestBytes(options.ids.fresh('challenge')).slice('sha256:'.length);
    const read = lineReader((type, envelope) => {
      const word = this.#open(type, envelope);
      if (word.ok) hear(word.value);
      else options.log(`a ${type.slice(0, 32)} of the observer was dropped: ${word.refusal.reason}`);
    });
    socket.on('data', (chunk: Buffer) => {
      if (!read(chunk)) socket.destroy();
    });
    this.#send('hello', options.ids.fresh('hello'), 0, { challenge: this.#challenge });
  }

  request(requestId: string, request: ObserverRequest): void {
    this.#requestSequence += 1;
    this.#send('request', requestId, this.#requestSequence, { request });
  }

  #send(type: 'hello' | 'request', requestId: string, sequence: number, body: object): void {
    const { authority, audience } = this.#options;
    const issuer = authority.keyId;
    const header = { schema: LINK_SCHEMAS[type], issuer, audience, subject: audience.fleet, requestId, sequence };
    const envelope = signEnvelope({ header, ...body }, [authority]);
    this.#socket.write(`${JSON.stringify({ type, envelope })}\n`);
  }

  #open(type: string, envelope: unknown): Outcome<ObserverWord> {
    switch (type) {
      case 'welcome':
        return then(this.#verify('welcome', envelope, welcomeSchema), (welcome) => this.#welcome(welcome));
      case 'statement':
        return then(this.#verify('statement', envelope, presentStatementSchema), (statement) =>
          this.#inOrder(statement.header, statement.incarnation, { kind: 'statement', statement }),
        );
      case 'receipt':
        return then(this.#verify('receipt', envelope, readyReceiptSchema), (receipt) =>
          this.#inOrder(receipt.header, receipt.incarnation, {
            kind: 'receipt',
            receipt,
            digest: digestJson(envelope),
            // Its form was checked when it was opened.
            envelope: envelope as Envelope,
          }),
        );
      case 'batch':
        return then(this.#verify('batch', envelope, batchSchema), ({ header, kind, standings }) =>
          this.#inOrder(header, this.#options.audience.fleet, { kind: 'standings', standings, roster: kind }),
        );
      case 'ack':
        return then(this.#verify('ack', envelope, ackSchema), ({ header, refusal }) =>
          this.#inOrder(header, this.#options.audience.fleet, { kind: 'ack', requestId: header.requestId, refusal }),
        );
      default:
        return dropped('the link knows no such line');
    }
  }

  #verify<T extends { readonly header: Header }>(line: LinkLineType, envelope: unknown, shape: Shape<T>): Outcome<T> {
    const { observer, audience } = this.#options;
    const opened = openEnvelope({ envelope, keys: [observer], schema: LINK_SCHEMAS[line], shape, audience });
    return opened.ok ? ok(opened.value.payload) : opened;
  }

  /** Only the answer to this connection's own challenge opens it; a welcome of another one is a replay (I5). */
  #welcome(welcome: z.infer<typeof welcomeSchema>): Outcome<ObserverWord> {
    const { header, challenge, incarnation, activation, requestSequence } = welcome;
    if (challenge !== this.#challenge || this.#heard !== null) return dropped('it answers no challenge of this link');
    this.#heard = header.sequence;
    this.#requestSequence = requestSequence;
    return ok({ kind: 'welcome', self: { incarnation, activation } });
  }

  #inOrder(header: Header, subject: string, word: ObserverWord): Outcome<ObserverWord> {
    if (this.#heard === null) return dropped('it came before the welcome');
    if (header.sequence <= this.#heard) return dropped(`its sequence ${header.sequence} came after ${this.#heard}`);
    if (header.subject !== subject) return dropped(`it is about ${header.subject}, and says so of ${subject}`);
    this.#heard = header.sequence;
    return ok(word);
  }
}

const then = <T, U>(outcome: Outcome<T>, next: (value: T) => Outcome<U>): Outcome<U> =>
  outcome.ok ? next(outcome.value) : outcome;

const dropped = (because: string): Outcome<never> =>
  refused(refusal('observer-word-dropped', `It was dropped: ${because}.`));
