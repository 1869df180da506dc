import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { ChannelEvent, WorkloadHandle } from '@idunn/authority';
import {
  digestBytes,
  type Envelope,
  freshSeed,
  type Header,
  type JsonObject,
  type Outcome,
  ok,
  publicKeyOf,
  randomIds,
  type SigningKey,
  signEnvelope,
  signingKeyFromSeed,
  systemClock,
  systemTimers,
} from '@idunn/kernel';
import type { Activation } from '@idunn/readiness';
import { identify, ownStandpoint } from '../../process/identity.ts';
import { type ChannelDriverOptions, createChannelDriver } from '../driver.ts';

const AUDIENCE = { fleet: 'alpha', machine: 'local' };
const INCARNATION = `game@${digestBytes('expected')}` as const;
const key = (): SigningKey => signingKeyFromSeed(freshSeed());
const clock = systemClock();

/** What a message says, taken out of its envelope. */
type Said = { readonly type: string; readonly header: Header } & Readonly<Record<string, unknown>>;

/** A tiny program in this very process: listens, proves itself, and answers as a test tells it to. */
export class Peer {
  readonly activation = randomIds.fresh('act');
  readonly authorityKey = key();
  readonly activationKey = key();
  readonly signerKey = key();
  readonly events: ChannelEvent[] = [];
  readonly dropped: string[] = [];
  readonly said: Said[] = [];
  readonly directory: string;
  readonly driver;
  /** Answers to commands; a test changes them. `null` stays silent. */
  readonly answers: Record<string, (said: Said) => { type: string; fields: JsonObject } | null> = {
    hello: ({ challenge }) => ({
      type: 'proof',
      fields: { challenge: challenge as string, counterChallenge: 'ab'.repeat(32), pid: process.pid },
    }),
    welcome: () => {
      this.presence({ state: 'warming' });
      return null;
    },
    echo: ({ nonce }) => ({ type: 'echoed', fields: { nonces: { db: nonce as string, other: null } } }),
    relinquish: ({ epoch }) => ({ type: 'relinquished', fields: { epoch: epoch as number, lastWriteAtMs: 12.5 } }),
    withdraw: () => ({ type: 'withdrawn', fields: { writing: true } }),
    grant: ({ epoch }) => ({ type: 'granted', fields: { epoch: epoch as number } }),
  };
  readonly #server: Server;
  readonly #sockets: Socket[] = [];
  #sequence = 0;
  #presences = 0;

  constructor(t: TestContext, more: Partial<ChannelDriverOptions> = {}) {
    this.directory = mkdtempSync(join(tmpdir(), 'idunn-c-'));
    this.#server = createServer((socket) => this.#accept(socket));
    this.driver = createChannelDriver({
      audience: AUDIENCE,
      authorityKey: this.authorityKey,
      socketPath: () => this.path,
      activation: () => Promise.resolve(this.minted()),
      anchors: () => [
        { publicKey: publicKeyOf(key().privateKey) },
        { publicKey: publicKeyOf(this.signerKey.privateKey) },
      ],
      endOthers: () => Promise.resolve({ ended: [], left: [] }),
      clock,
      timers: systemTimers,
      ids: randomIds,
      log: (text) => this.dropped.push(text),
      openWithinMs: 20_000,
      answerWithinMs: 20_000,
      ...more,
    });
    this.driver.subscribe((event) => this.events.push(event));
    t.after(() => {
      this.driver.closeAll();
      this.#server.close();
      rmSync(this.directory, { recursive: true });
    });
  }

  get path(): string {
    return join(this.directory, 'channel.sock');
  }

  listen(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(this.path, resolve));
  }

  handle(pid = process.pid): WorkloadHandle {
    const identity = identify(pid, null, ownStandpoint(clock.bootId));
    if (identity.kind !== 'seen') throw new Error(`process ${pid} cannot be identified`);
    return { version: 1, driver: 'process', target: 'game', activation: this.activation, identity: identity.value };
  }

  minted(): Outcome<Activation> {
    const { keyId } = this.activationKey;
    const publicKey = publicKeyOf(this.activationKey.privateKey);
    return ok({
      schema: 'idunn.activation/v1',
      activation: this.activation,
      incarnation: INCARNATION,
      target: 'game',
      publicKey,
      keyId,
      endpoint: null,
    });
  }

  /** Resolves with the first event of a kind, past ones included. */
  event<K extends ChannelEvent['kind']>(kind: K, nth = 1): Promise<Extract<ChannelEvent, { kind: K }>> {
    return new Promise((resolve) => {
      const look = (): void => {
        const found = this.events.filter((event) => event.kind === kind)[nth - 1];
        if (found !== undefined) resolve(found as Extract<ChannelEvent, { kind: K }>);
      };
      this.driver.subscribe(look);
      look();
    });
  }

  /** Resolves when the program's own messages so far were read: an echo comes after them. */
  async settled(): Promise<void> {
    await this.driver.echo(this.activation, 'settled', 20_000);
  }

  word(type: string, fields: JsonObject, more: Word = {}): void {
    const envelope = this.envelope(`idunn.channel-${type}/v1`, fields, { sequence: ++this.#sequence, ...more });
    this.#write(type, envelope);
  }

  presence(fields: JsonObject, more: Word = {}): Envelope {
    const body = {
      target: 'game',
      incarnation: INCARNATION,
      activation: this.activation,
      state: 'active',
      pid: process.pid,
      epoch: null,
      endpoint: null,
      stateSchema: null,
      capabilities: [],
      detail: '',
      ...fields,
    };
    const keys = more.keys ?? [this.activationKey, this.signerKey];
    const envelope = this.envelope('idunn.presence/v1', body, { sequence: ++this.#presences, ...more, keys });
    this.#write('presence', envelope);
    return envelope;
  }

  raw(text: string): void {
    this.#sockets.at(-1)?.write(text);
  }

  again(envelope: Envelope): void {
    this.#write('presence', envelope);
  }

  hangUp(): void {
    this.#sockets.at(-1)?.destroy();
  }

  envelope(
    schema: string,
    fields: JsonObject,
    { keys = [this.activationKey], header = {}, sequence = 1, requestId = 'unsolicited' }: Word,
  ): Envelope {
    const own = {
      schema,
      issuer: keys[0]?.keyId ?? '',
      audience: AUDIENCE,
      subject: this.activation,
      requestId,
      sequence,
    };
    return signEnvelope({ header: { ...own, ...header }, ...fields }, keys);
  }

  #accept(socket: Socket): void {
    this.#sockets.push(socket);
    this.#sequence = 0;
    let rest = '';
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      const lines = (rest + chunk.toString()).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.#hear(JSON.parse(line));
    });
  }

  #hear({ type, envelope }: { type: string; envelope: Envelope }): void {
    const payload = JSON.parse(Buffer.from(envelope.payload, 'base64').toString()) as { header: Header };
    const said: Said = { type, ...payload };
    this.said.push(said);
    const answer = this.answers[type]?.(said);
    if (answer !== null && answer !== undefined)
      this.word(answer.type, answer.fields, { requestId: payload.header.requestId });
  }

  #write(type: string, envelope: Envelope): void {
    this.#sockets.at(-1)?.write(`${JSON.stringify({ type, envelope })}\n`);
  }
}

interface Word {
  readonly keys?: readonly SigningKey[];
  readonly header?: JsonObject;
  readonly sequence?: number;
  readonly requestId?: string;
}

export const strangerKey = key();

export const codeOf = (outcome: Outcome<unknown>): string => (outcome.ok ? 'ok' : outcome.refusal.code);
