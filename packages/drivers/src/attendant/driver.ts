import type { ChannelEvent, ChannelPort, Grant, LinkPort, RelinquishAnswer, WorkloadHandle } from '@idunn/authority';
import {
  absent,
  type Clock,
  type Evidence,
  type Header,
  type Json,
  type Outcome,
  ok,
  refusal,
  refused,
  seen,
  type Timers,
  unknown,
  type VerificationKey,
  verificationKey,
} from '@idunn/kernel';
import type { Activation, Presence } from '@idunn/readiness';
import type { z } from 'zod';
import { PresenceEar } from '../channel/presence-ear.ts';
import { hungAt } from '../helper/hung.ts';
import { HelperKeeper, withOutdated } from '../helper/keeper.ts';
import { type Answer, ControlLink, outcomeOf } from '../helper/link.ts';
import {
  type AttendantMetrics,
  type AttendantProtocol,
  type Attended,
  attendedSchema,
  type Hello,
  heardSchema,
  helloSchema,
  listSchema,
  metricsSchema,
  PROTOCOL,
} from './protocol.ts';

export interface AttendantDriverOptions {
  readonly fleet: string;
  readonly audience: Header['audience'];
  /** The program by argv, without the attendant's own options. */
  readonly program: readonly [string, ...string[]];
  /** Digest of the installed bytes: an attendant that was started from others makes way for a new one. */
  readonly build: string;
  readonly controlSocket: string;
  readonly stateFile: string;
  readonly logFile: string;
  readonly activationDirectory: (activation: string) => string;
  /** The activation as this authority minted it. */
  readonly activation: (activation: string) => Promise<Outcome<Activation>>;
  /** The target's enrolled service signers; one of them must have signed a presence. */
  readonly anchors: (target: string) => readonly { readonly publicKey: string }[];
  /** Lets a launcher that waits become its program, once the attendant knows the epoch. */
  readonly openGate: (handle: WorkloadHandle, grant: Grant) => Promise<Outcome<'open'>>;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Messages that were dropped, for the daemon's own log. */
  readonly log?: (text: string) => void;
}

export type AttendantStatus = Hello & { readonly outdated: boolean };

/** The lease connection of programs that know nothing of Idunn: the attendant speaks for them. */
export interface AttendantDriver extends ChannelPort {
  /** True for an activation that was opened here and not closed since. */
  holds(activation: string): boolean;
  /** What the attendant says of itself; `absent` while nothing is attended and none was started. */
  status(): Promise<Evidence<AttendantStatus>>;
  /** Every attended program with its last reading. */
  attended(): Promise<Evidence<readonly Attended[]>>;
  metrics(): Promise<Evidence<AttendantMetrics>>;
  readonly link: LinkPort;
  /** Lets go of the attendant, which goes on speaking. */
  letGo(): void;
}

interface Line {
  readonly handle: WorkloadHandle;
  readonly key: VerificationKey;
  /** A new attendant is told of it: one before was, or whoever opened it could not and has given up. */
  retold: boolean;
  presence: { readonly presence: Presence; readonly atMs: number } | null;
}

const ANSWER_MS = 5_000;
const ATTENDANT = {
  name: 'attendant',
  unreachable: 'attendant-unreachable',
  lost: 'attendant-answer-lost',
} as const;

export const createAttendantDriver = (options: AttendantDriverOptions): AttendantDriver => new Attendants(options);

class Attendants implements AttendantDriver {
  readonly #options: AttendantDriverOptions;
  readonly #ear: PresenceEar;
  readonly #lines = new Map<string, Line>();
  readonly #listeners: ((event: ChannelEvent) => void)[] = [];
  readonly #link: ControlLink<AttendantProtocol>;
  readonly #keeper: HelperKeeper<AttendantProtocol>;
  /** Since when this link, or the last one, is up, and when the attendant said anything last. */
  #listened: { readonly sinceMs: number; readonly untilMs: number } | null = null;

  constructor(options: AttendantDriverOptions) {
    this.#options = options;
    this.#ear = new PresenceEar(options);
    const { fleet, controlSocket, stateFile, logFile, build, program, timers } = options;
    this.#link = new ControlLink({
      ...ATTENDANT,
      controlSocket,
      greeting: { fleet },
      timers,
      state: (state) => (state === 'up' ? this.#up() : this.#keeper.lost()),
      notice: (notice) => this.#hear(notice),
      heard: () => {
        const nowMs = options.clock.monotonicMs();
        this.#listened = { sinceMs: this.#listened?.sinceMs ?? nowMs, untilMs: nowMs };
      },
    });
    const words = ['--fleet', fleet, '--control', controlSocket, '--state', stateFile, '--build', build, '--notify'];
    this.#keeper = new HelperKeeper({
      link: this.#link,
      launch: {
        name: 'attendant',
        argv: [...program, ...words],
        files: [controlSocket, stateFile],
        logFile,
        failed: 'attendant-start-failed',
      },
      codes: { unreachable: 'attendant-unreachable', alreadyRunning: 'attendant-already-running' },
      replace: (hello) => this.#replace(hello),
      // It grants nothing and carries nothing: its successor goes on from its file.
      hung: hungAt(controlSocket, options.clock),
      timers,
    });
  }

  get link(): LinkPort {
    return this.#keeper;
  }

  async open(handle: WorkloadHandle): Promise<Outcome<'open'>> {
    const known = this.#lines.get(handle.activation);
    if (known === undefined || !isSame(known.handle, handle)) {
      const minted = await this.#options.activation(handle.activation);
      if (!minted.ok) return minted;
      const key = verificationKey(minted.value.publicKey);
      this.#lines.set(handle.activation, { handle, key, retold: false, presence: null });
    }
    const running = await this.#keeper.ensure();
    const line = this.#lines.get(handle.activation);
    if (!running.ok) {
      if (line !== undefined) line.retold = true;
      this.#keeper.goOn();
      return running;
    }
    if (line === undefined) {
      return refused(refusal('channel-closed', `The attending of ${handle.activation} was given up.`));
    }
    const attended = await this.#attend(line);
    return attended.ok ? ok('open') : attended;
  }

  presence(activation: string): Evidence<{ readonly presence: Presence; readonly ageMs: number }> {
    const line = this.#lines.get(activation);
    if (line === undefined) return unknown('the program is not attended');
    if (line.presence === null) return absent;
    const { presence, atMs } = line.presence;
    return seen({ presence, ageMs: this.#options.clock.monotonicMs() - atMs });
  }

  /** Its silence is the attendant's, for as long as that one is not heard. */
  listened(activation: string): { readonly sinceMs: number; readonly untilMs: number } | null {
    if (!this.#lines.has(activation)) return null;
    const nowMs = this.#options.clock.monotonicMs();
    return this.#listened ?? { sinceMs: nowMs, untilMs: nowMs };
  }

  echo(): Promise<Evidence<Readonly<Record<string, string>>>> {
    return Promise.resolve(unknown('an attended program reads no lease row'));
  }

  relinquish(): Promise<RelinquishAnswer> {
    return Promise.resolve({ kind: 'silent', because: 'an attended program cannot be asked to stop writing' });
  }

  withdraw(): Promise<void> {
    return Promise.resolve();
  }

  /** The attendant keeps the epoch before the gate opens: what the program does is spoken for under it. */
  async grant(activation: string, grant: Grant): Promise<Outcome<'delivered'>> {
    if (grant.activation !== activation) throw new TypeError('a grant reaches the activation that it names');
    const line = this.#lines.get(activation);
    if (line === undefined) return refused(refusal('channel-closed', `Activation ${activation} is not attended.`));
    const granted = outcomeOf(await this.#link.call('grant', { activation, epoch: grant.epoch }, ANSWER_MS), ATTENDANT);
    if (!granted.ok) return granted;
    const opened = await this.#options.openGate(line.handle, grant);
    return opened.ok ? ok('delivered') : opened;
  }

  async close(activation: string): Promise<void> {
    if (!this.#lines.delete(activation)) return;
    // Unanswered it changes nothing: the attendant forgets by itself whoever has gone.
    await this.#link.call('forget', { activation }, ANSWER_MS);
  }

  subscribe(listener: (event: ChannelEvent) => void): void {
    this.#listeners.push(listener);
  }

  holds(activation: string): boolean {
    return this.#lines.has(activation);
  }

  async status(): Promise<Evidence<AttendantStatus>> {
    if (this.#lines.size === 0 && this.#link.hello === null) return absent;
    const running = withOutdated(await this.#keeper.look(), this.#options.build);
    return running.ok ? seen(running.value) : unknown(running.refusal.reason);
  }

  async attended(): Promise<Evidence<readonly Attended[]>> {
    const all: Attended[] = [];
    if (this.#lines.size === 0) return seen(all);
    for (let after = ''; ; ) {
      const page = read(listSchema, await this.#link.call('list', { after }, ANSWER_MS));
      if (page.kind !== 'seen') return page;
      const last = page.value.at(-1);
      if (last === undefined) return seen(all);
      all.push(...page.value);
      after = last.activation;
    }
  }

  /** Asked for while a failure is told: whatever comes instead of an answer is `null`. */
  async lastReading(activation: string): Promise<Json> {
    if (!this.#lines.has(activation)) return null;
    const view = read(attendedSchema.nullable(), await this.#link.call('view', { activation }, ANSWER_MS));
    const reading = view.kind === 'seen' ? (view.value?.reading ?? null) : null;
    if (reading === null) return null;
    const { good, said, status, body } = reading;
    return { good, said, status, body };
  }

  async metrics(): Promise<Evidence<AttendantMetrics>> {
    if (this.#link.hello === null) return absent;
    return read(metricsSchema, await this.#link.call('metrics', {}, ANSWER_MS));
  }

  letGo(): void {
    this.#keeper.letGo();
    this.#link.close();
  }

  async #attend(line: Line): Promise<Outcome<unknown>> {
    const { activation, identity } = line.handle;
    const { pid, startTime } = identity;
    const directory = this.#options.activationDirectory(activation);
    const answer = await this.#link.call('attend', { activation, directory, pid, startTime }, ANSWER_MS);
    if (answer.kind === 'value') {
      line.retold = true;
      this.#hear(answer.value as object);
    }
    return outcomeOf(answer, ATTENDANT);
  }

  #up(): void {
    const nowMs = this.#options.clock.monotonicMs();
    this.#listened = { sinceMs: nowMs, untilMs: nowMs };
    void this.#retell();
  }

  /**
   * A new attendant is told again what was told to one before; what is being opened is told by whoever opens it. One
   * after the other: the answer of each is its newest presence, and a thousand at once are more than a peer takes.
   */
  async #retell(): Promise<void> {
    for (const line of [...this.#lines.values()].filter(({ retold }) => retold)) {
      const attended = await this.#attend(line);
      if (attended.ok) continue;
      this.#options.log?.(`${line.handle.activation} is not attended: ${attended.refusal.reason}`);
      // The next link tells all of them.
      if (this.#link.hello === null) return;
    }
  }

  async #replace(hello: Hello): Promise<'asked' | 'stays'> {
    const same = helloSchema.safeParse(hello).data;
    if (same?.build === this.#options.build && same.protocol === PROTOCOL) return 'stays';
    const asked = await this.#link.call('stop', {}, ANSWER_MS);
    return asked.kind === 'refused' ? 'stays' : 'asked';
  }

  #hear(told: object): void {
    const heard = heardSchema.safeParse(told);
    if (!heard.success) return this.#options.log?.('dropped a word of the attendant: another form');
    if (heard.data.presence === null) return;
    const { activation, envelope, ageMs } = heard.data.presence;
    const line = this.#lines.get(activation);
    if (line === undefined) return; // Another daemon's, or one that is just being closed.
    const presence = this.#ear.hear(line.handle, line.key, envelope);
    if (!presence.ok) {
      // The newest one is told again to whoever asks.
      if (presence.refusal.code === 'presence-replayed') return;
      return this.#options.log?.(`dropped a presence of ${activation}: ${presence.refusal.reason}`);
    }
    line.presence = { presence: presence.value, atMs: this.#options.clock.monotonicMs() - ageMs };
    const { target } = line.handle;
    for (const tell of this.#listeners) tell({ kind: 'presence', target, activation, presence: presence.value });
  }
}

const isSame = (one: WorkloadHandle, other: WorkloadHandle): boolean =>
  one.identity.pid === other.identity.pid && one.identity.startTime === other.identity.startTime;

function read<T>(schema: z.ZodType<T>, answer: Answer<unknown>): Evidence<T> {
  if (answer.kind !== 'value') {
    return unknown(answer.kind === 'refused' ? answer.refusal.reason : answer.because);
  }
  const parsed = schema.safeParse(answer.value);
  return parsed.success ? seen(parsed.data) : unknown('the attendant answered in another form');
}
