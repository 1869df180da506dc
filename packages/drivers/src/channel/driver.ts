import { randomBytes } from 'node:crypto';
import type { ChannelEvent, ChannelPort, Grant, RelinquishAnswer, WorkloadHandle } from '@idunn/authority';
import {
  absent,
  type Clock,
  type Evidence,
  type Header,
  type Ids,
  type Outcome,
  ok,
  refusal,
  refused,
  type SigningKey,
  seen,
  type Timers,
  unknown,
  type VerificationKey,
  verificationKey,
} from '@idunn/kernel';
import type { Activation, Presence, RuntimeIdentity } from '@idunn/readiness';
import { ownStandpoint, type Standpoint } from '../process/identity.ts';
import type { OthersEnded } from '../process/others.ts';
import { Connection } from './connection.ts';
import { PresenceEar } from './presence-ear.ts';
import { reach } from './reach.ts';

export interface ChannelDriverOptions {
  readonly audience: Header['audience'];
  readonly authorityKey: SigningKey;
  /** Where an activation's program listens. */
  readonly socketPath: (activation: string) => string;
  /** The activation as this authority minted it. */
  readonly activation: (activation: string) => Promise<Outcome<Activation>>;
  /** The target's enrolled service signers; one of them must have signed a presence. */
  readonly anchors: (target: string) => readonly { readonly publicKey: string }[];
  /** Ends the processes of the activation outside the handle's tree; `left` are those that could not be ended. */
  readonly endOthers: (handle: WorkloadHandle) => Promise<OthersEnded>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly ids: Ids;
  /** Messages that were dropped and processes that were ended, for the daemon's own log. */
  readonly log?: (text: string) => void;
  /** How long `open` waits for a program that does not listen yet, in milliseconds. */
  readonly openWithinMs?: number;
  /** How long a proof, a grant or a withdrawal waits for its answer, in milliseconds. */
  readonly answerWithinMs?: number;
}

const OPEN_WITHIN_MS = 5_000;
const ANSWER_WITHIN_MS = 2_000;

interface Line {
  readonly handle: WorkloadHandle;
  readonly connection: Connection;
  presence: { readonly presence: Presence; readonly atMs: number } | null;
}

/** Makes the channel driver: one proven connection to each program. */
export const createChannelDriver = (options: ChannelDriverOptions): ChannelDriver => new Channels(options);

export interface ChannelDriver extends ChannelPort {
  /** Ends every connection; the programs go on as they are. */
  closeAll(): void;
}

class Channels implements ChannelDriver {
  readonly #options: ChannelDriverOptions;
  readonly #from: Standpoint;
  readonly #lines = new Map<string, Line>();
  readonly #opening = new Map<string, { abandoned: boolean; readonly outcome: Promise<Outcome<'open'>> }>();
  readonly #ear: PresenceEar;
  readonly #listeners: ((event: ChannelEvent) => void)[] = [];

  constructor(options: ChannelDriverOptions) {
    this.#options = options;
    this.#from = ownStandpoint(options.clock.bootId);
    this.#ear = new PresenceEar(options);
  }

  open(handle: WorkloadHandle): Promise<Outcome<'open'>> {
    const running = this.#opening.get(handle.activation);
    if (running !== undefined) return running.outcome;
    if (isSame(this.#lines.get(handle.activation)?.handle.identity, handle.identity))
      return Promise.resolve(ok('open'));
    const opening = { abandoned: false, outcome: Promise.resolve<Outcome<'open'>>(ok('open')) };
    opening.outcome = this.#open(handle, () => opening.abandoned).finally(() =>
      this.#opening.delete(handle.activation),
    );
    this.#opening.set(handle.activation, opening);
    return opening.outcome;
  }

  presence(activation: string): Evidence<{ readonly presence: Presence; readonly ageMs: number }> {
    const line = this.#lines.get(activation);
    if (line === undefined) return unknown('the connection to the program is closed');
    if (line.presence === null) return absent;
    const { presence, atMs } = line.presence;
    return seen({ presence, ageMs: this.#options.clock.monotonicMs() - atMs });
  }

  async echo(activation: string, nonce: string, withinMs: number): Promise<Evidence<Readonly<Record<string, string>>>> {
    const connection = this.#lines.get(activation)?.connection;
    const answer = await connection?.ask('echo', { nonce }, this.#options.ids.fresh('echo'), withinMs);
    if (answer === undefined || answer === null) return unknown(whyNot(connection));
    // A store that the program could not read its nonce in is left out: no echo, no proof.
    const read = Object.entries(answer.nonces).filter((entry): entry is [string, string] => entry[1] !== null);
    return seen(Object.fromEntries(read));
  }

  async relinquish(
    activation: string,
    { requestId, epoch, termMs }: { readonly requestId: string; readonly epoch: number; readonly termMs: number },
    withinMs: number,
  ): Promise<RelinquishAnswer> {
    const connection = this.#lines.get(activation)?.connection;
    const answer = await connection?.ask('relinquish', { epoch, termMs }, requestId, withinMs);
    return answer === undefined || answer === null
      ? { kind: 'silent', because: whyNot(connection) }
      : { kind: 'relinquished', lastWriteAtMs: answer.lastWriteAtMs };
  }

  async withdraw(activation: string, requestId: string): Promise<void> {
    const connection = this.#lines.get(activation)?.connection;
    const fresh = this.#options.ids.fresh('withdraw');
    await connection?.ask('withdraw', { relinquishId: requestId }, fresh, this.#answerWithinMs);
  }

  async grant(activation: string, grant: Grant): Promise<Outcome<'delivered'>> {
    if (grant.activation !== activation) throw new TypeError('a grant reaches the activation that it names');
    const connection = this.#lines.get(activation)?.connection;
    if (connection === undefined) {
      return refused(refusal('channel-closed', `No connection to ${activation} is open.`));
    }
    const { stateId, epoch } = grant;
    const answer = await connection.ask(
      'grant',
      { stateId, epoch },
      this.#options.ids.fresh('grant'),
      this.#answerWithinMs,
    );
    if (answer?.epoch === epoch) return ok('delivered');
    return refused(refusal('channel-silent', `Activation ${activation} did not confirm epoch ${epoch}.`));
  }

  close(activation: string): Promise<void> {
    const opening = this.#opening.get(activation);
    if (opening !== undefined) opening.abandoned = true;
    const line = this.#lines.get(activation);
    this.#lines.delete(activation);
    line?.connection.close();
    return Promise.resolve();
  }

  closeAll(): void {
    for (const activation of [...this.#lines.keys(), ...this.#opening.keys()]) void this.close(activation);
  }

  subscribe(listener: (event: ChannelEvent) => void): void {
    this.#listeners.push(listener);
  }

  get #answerWithinMs(): number {
    return this.#options.answerWithinMs ?? ANSWER_WITHIN_MS;
  }

  async #open(handle: WorkloadHandle, abandoned: () => boolean): Promise<Outcome<'open'>> {
    const minted = await this.#options.activation(handle.activation);
    if (!minted.ok) return minted;
    const key = verificationKey(minted.value.publicKey);
    const path = this.#options.socketPath(handle.activation);
    const { timers } = this.#options;
    const reaching = { identity: handle.identity, path, from: this.#from, timers, abandoned };
    const socket = await reach(reaching, this.#options.openWithinMs ?? OPEN_WITHIN_MS);
    if (!socket.ok) return socket;
    const { audience, authorityKey } = this.#options;
    const peer = { activation: handle.activation, activationKey: key, audience, authorityKey };
    const connection = new Connection(socket.value, peer, timers, {
      presence: (envelope) => this.#hearPresence(line, key, envelope),
      firstWrite: ({ epoch, atMs }) => this.#tell({ kind: 'first-write', ...named(handle), epoch, atMs }),
      closed: () => this.#closed(line),
      dropped: (reason) => this.#drop(handle, reason),
    });
    const line: Line = { handle, connection, presence: null };
    const proven = await this.#prove(line);
    if (!proven.ok || abandoned()) {
      this.#lines.delete(handle.activation);
      line.connection.close();
      return proven.ok
        ? refused(refusal('channel-closed', `The connection to ${handle.activation} was given up.`))
        : proven;
    }
    return proven;
  }

  /** Both keys, this connection's challenges, the very process, and no second one (I5). */
  async #prove(line: Line): Promise<Outcome<'open'>> {
    const { handle, connection } = line;
    const { pid } = handle.identity;
    const requestId = this.#options.ids.fresh('hello');
    const challenge = randomBytes(32).toString('hex');
    const [{ ended, left }, proof] = await Promise.all([
      this.#options.endOthers(handle),
      connection.ask('hello', { challenge }, requestId, this.#answerWithinMs),
    ]);
    const carry = `carry ${handle.activation} beside process ${pid}`;
    if (ended.length > 0) this.#options.log?.(`ended processes ${pidsOf(ended)}, which ${carry}`);
    if (left.length > 0) {
      return refused(refusal('channel-second-process', `Processes ${pidsOf(left)} ${carry}.`));
    }
    if (proof === null) {
      return refused(refusal('channel-proof-failed', `Process ${pid} did not prove the key of ${handle.activation}.`));
    }
    if (proof.challenge !== challenge || proof.pid !== pid) {
      return refused(
        refusal('channel-proof-failed', `Process ${pid} of ${handle.activation} proved another challenge or process.`),
      );
    }
    // Before the welcome: the presence that answers it must find its line.
    this.#lines.get(handle.activation)?.connection.close();
    this.#lines.set(handle.activation, line);
    connection.send('welcome', { counterChallenge: proof.counterChallenge }, requestId);
    return ok('open');
  }

  #hearPresence(line: Line, activationKey: VerificationKey, envelope: unknown): void {
    const { handle } = line;
    if (this.#lines.get(handle.activation) !== line) return this.#drop(handle, 'presence: before the proof');
    const heard = this.#ear.hear(handle, activationKey, envelope);
    if (!heard.ok) return this.#drop(handle, `presence: ${heard.refusal.reason}`);
    const presence = heard.value;
    line.presence = { presence, atMs: this.#options.clock.monotonicMs() };
    this.#tell({ kind: 'presence', ...named(handle), presence });
  }

  #closed(line: Line): void {
    const { activation } = line.handle;
    if (this.#lines.get(activation) !== line) return;
    this.#lines.delete(activation);
    this.#tell({ kind: 'closed', ...named(line.handle) });
  }

  #tell(event: ChannelEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  #drop(handle: WorkloadHandle, reason: string): void {
    this.#options.log?.(`dropped a message of ${handle.activation}: ${reason}`);
  }
}

const named = ({ target, activation }: WorkloadHandle) => ({ target, activation });

const pidsOf = (identities: readonly RuntimeIdentity[]): string => identities.map(({ pid }) => pid).join(', ');

const isSame = (one: RuntimeIdentity | undefined, other: RuntimeIdentity): boolean =>
  one !== undefined && one.pid === other.pid && one.startTime === other.startTime && one.bootId === other.bootId;

const whyNot = (connection: Connection | undefined): string =>
  connection?.open === true ? 'the program did not answer in time' : 'the connection to the program is closed';
