import {
  type Activation,
  type AttendedContract,
  type Envelope,
  isRepeatedTogether,
  type Machine,
  ObserverLink,
  type PresenceState,
  signPresence,
  TOGETHER_MS,
} from '@idunn/workload/attending';
import type { Coalescer } from './coalescer.ts';
import type { Listener } from './edge/listener.ts';
import { lives } from './edge/process.ts';
import { LIMITS } from './limits.ts';
import { type Health, healthOf, judge, stateOf, type Verdict } from './model/health.ts';
import { type Finding, type Reading, sentenceOf } from './model/reading.ts';
import type { AttendedRecord } from './model/record.ts';
import { ofItself } from './probes/of-itself.ts';
import { lookAt, type Probing } from './probes/probe.ts';

export interface SubjectParts {
  readonly machine: Machine;
  /** Waits for its turn, then looks. */
  readonly turn: (kind: 'connection' | 'command', look: () => Promise<Finding>) => Promise<Finding>;
  /** Who listens on the port of its endpoint. */
  readonly listener: (record: AttendedRecord, port: number) => Promise<Listener>;
  /** What may wait a moment happens here, together with that of others. */
  readonly coalescer: Pick<Coalescer, 'add' | 'soon' | 'drop'>;
  readonly spoke: (subject: Subject, presence: Envelope) => void;
  /** Keeps the verdict, before anything is said under it. */
  readonly verdict: (subject: Subject) => Promise<void>;
  /** Its process was seen gone: nothing is left to speak for. */
  readonly gone: (subject: Subject) => void;
  readonly log: (line: string) => void;
}

/** What is known of one attended program. */
export interface SubjectView {
  readonly target: string;
  readonly activation: string;
  readonly state: PresenceState | null;
  readonly epoch: number | null;
  readonly verdict: Verdict;
  /** Readings of the newest kind in a row. */
  readonly inARow: number;
  readonly reading: (Reading & { readonly ageMs: number }) | null;
}

/** Microseconds of CLOCK_MONOTONIC: they rise over every restart within one boot, and activations end with the boot. */
const MICROSECONDS = 1_000;

/** Speaks for one activation: probes its program in turns and signs what the readings come to. */
export class Subject {
  readonly #activation: Activation;
  readonly #contract: AttendedContract;
  readonly #record: AttendedRecord;
  readonly #parts: SubjectParts;
  readonly #link: ObserverLink | null;
  #health: Health;
  #epoch: number | null;
  #last: Reading | null = null;
  #said: { readonly state: PresenceState; readonly envelope: Envelope; readonly atMs: number } | null = null;
  #sequence = 0;
  #quickMs: number;
  #cancel = (): void => undefined;
  #stopped = false;

  constructor(activation: Activation, contract: AttendedContract, record: AttendedRecord, parts: SubjectParts) {
    this.#activation = activation;
    this.#contract = contract;
    this.#record = record;
    this.#parts = parts;
    this.#health = healthOf(record.verdict);
    this.#epoch = record.epoch;
    this.#quickMs = LIMITS.quickMs[this.#kind];
    // Everything that may be shown of the program goes through here first (F30).
    for (const name of activation.launch.secrets) activation.secrets.value(name);
    const { observer, target } = activation.launch;
    const log = (line: string): void => parts.log(`${target}: ${line}`);
    // An observer that comes back hears from all at the same moment.
    const connected = (): void => parts.coalescer.soon(this.#speakAgain);
    this.#link = observer === null ? null : new ObserverLink(observer.socket, parts.machine, connected, log);
  }

  get record(): AttendedRecord {
    return { ...this.#record, epoch: this.#epoch, verdict: this.#health.verdict };
  }

  /** The newest presence and its age; `null` before the first. */
  get presence(): { readonly envelope: Envelope; readonly ageMs: number } | null {
    if (this.#said === null) return null;
    return { envelope: this.#said.envelope, ageMs: this.#parts.machine.monotonicMs() - this.#said.atMs };
  }

  begin(delayMs: number): void {
    this.#link?.start();
    if (this.#waitsForGrant) this.#speak();
    this.#later(delayMs);
  }

  /** The epoch is the authority's; a lower one than was granted before is worth nothing (I5). */
  grant(epoch: number): 'granted' | 'outdated' {
    if (this.#epoch !== null && epoch < this.#epoch) return 'outdated';
    const waited = this.#waitsForGrant;
    if (this.#epoch === epoch) return 'granted';
    this.#epoch = epoch;
    this.#speak();
    if (waited) this.#later(0);
    return 'granted';
  }

  view(): SubjectView {
    const nowMs = this.#parts.machine.monotonicMs();
    return {
      target: this.#activation.launch.target,
      activation: this.#record.activation,
      state: this.#state,
      epoch: this.#epoch,
      verdict: this.#health.verdict,
      inARow: this.#health.run?.count ?? 0,
      reading: this.#last === null ? null : { ...this.#last, ageMs: nowMs - this.#last.atMs },
    };
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel();
    this.#parts.coalescer.drop(this.#speakAgain);
    this.#link?.stop();
  }

  get #kind(): 'connection' | 'command' {
    return this.#contract.probe.kind === 'command' ? 'command' : 'connection';
  }

  get #stateful(): boolean {
    return this.#activation.launch.state !== null;
  }

  /** Its launcher waits: there is no program yet that could be looked at. */
  get #waitsForGrant(): boolean {
    return this.#stateful && this.#epoch === null;
  }

  get #state(): PresenceState | null {
    return stateOf(this.#health, { stateful: this.#stateful, epoch: this.#epoch });
  }

  #later(delayMs: number): void {
    this.#cancel();
    if (!this.#stopped) this.#cancel = this.#parts.machine.after(delayMs, () => void this.#turn());
  }

  async #turn(): Promise<void> {
    if (this.#life() === 'no') return this.#parts.gone(this);
    if (this.#waitsForGrant) {
      this.#repeat();
      return this.#later(this.#activation.launch.presenceEveryMs);
    }
    const { probe, timeoutMs } = this.#contract;
    const probing: Probing = { probe, timeoutMs, endpoint: this.#activation.launch.endpoint };
    const { machine } = this.#parts;
    let fromMs = machine.monotonicMs();
    const finding = await this.#parts.turn(this.#kind, () => {
      fromMs = machine.monotonicMs();
      return lookAt(probing, machine);
    });
    // A good reading counts after none or a bad one only where the answer is this program's own.
    const isNew = this.#health.run?.good !== true;
    const judged = isNew
      ? await ofItself(finding, probing, (port) => this.#parts.listener(this.#record, port))
      : finding;
    if (this.#stopped) return;
    await this.#take(judged, fromMs);
    this.#later(this.#pauseMs(judged.good));
  }

  async #take(finding: Finding, fromMs: number): Promise<void> {
    const atMs = this.#parts.machine.monotonicMs();
    this.#last = { ...this.#shown(finding), atMs, tookMs: Math.round(atMs - fromMs) };
    const before = this.#health.verdict;
    this.#health = judge(this.#health, finding.good, this.#contract);
    if (this.#health.verdict !== before) await this.#parts.verdict(this);
    if (this.#state !== (this.#said?.state ?? null)) this.#speak();
    else this.#repeat();
  }

  /** While it starts it is looked at soon again; afterwards in its interval. */
  #pauseMs(wasGood: boolean): number {
    const { intervalMs } = this.#contract;
    if (this.#health.verdict !== 'unproven' || wasGood) return intervalMs;
    const pauseMs = Math.min(this.#quickMs, intervalMs);
    this.#quickMs *= LIMITS.quickMs.growth;
    return pauseMs;
  }

  /** The newest word once more, where it is due before the next reading. What is `degraded` is left to lapse. */
  #repeat(): void {
    const state = this.#state;
    if (state === null || state === 'degraded') return;
    if (this.#said === null) return this.#speak();
    const { presenceEveryMs } = this.#activation.launch;
    const waits = isRepeatedTogether(presenceEveryMs);
    const nextMs = this.#parts.machine.monotonicMs() + this.#contract.intervalMs + (waits ? TOGETHER_MS : 0);
    if (nextMs - this.#said.atMs <= presenceEveryMs) return;
    if (waits) this.#parts.coalescer.add(this.#speakAgain);
    else this.#speak();
  }

  /** What it is now, to whoever knew it: a repeat, or for an observer that can be spoken to anew. */
  readonly #speakAgain = (): void => this.#speak();

  #life(): ReturnType<typeof lives> {
    return lives(this.#record.pid, this.#record.startTime);
  }

  /** Signs what it is now. `active` rests on a new good reading: a program that hangs lets its presence lapse. */
  #speak(): void {
    const state = this.#state;
    if (this.#stopped || state === null || (state === 'active' && this.#last?.good !== true)) return;
    // Looked at last of all: nothing is signed for a process that has gone, whoever answers in its place (I5, F12).
    if (this.#life() !== 'yes') return;
    const { launch, keys } = this.#activation;
    this.#parts.coalescer.drop(this.#speakAgain);
    const atMs = this.#parts.machine.monotonicMs();
    this.#sequence = Math.max(this.#sequence + 1, Math.floor(atMs * MICROSECONDS));
    const word = {
      state,
      epoch: this.#epoch,
      endpoint: launch.endpoint,
      stateSchema: launch.state?.schema ?? null,
      capabilities: this.#contract.capabilities,
      detail: this.#detail(state),
    };
    const envelope = signPresence({ ...launch, pid: this.#record.pid, keys }, word, this.#sequence);
    this.#said = { state, envelope, atMs };
    this.#link?.send(envelope);
    this.#parts.spoke(this, envelope);
  }

  /** A verdict names the evidence that it rests on (F5, F11). */
  #detail(state: PresenceState): string {
    if (this.#waitsForGrant) return 'its launcher waits for the grant';
    if (this.#last === null) return 'it was not looked at yet';
    const last = sentenceOf(this.#last);
    const { count } = this.#health.run ?? { count: 0 };
    return state === 'degraded' ? `bad ${count} times in a row, the last: ${last}` : last;
  }

  /** Secrets go first, and only then is the rest cut, so that no half of one is left (F30). */
  #shown(finding: Finding): Finding {
    const clean = (text: string): string => this.#activation.secrets.redact(text);
    const body = finding.body === null ? null : clean(finding.body).slice(0, LIMITS.shownCharacters).toWellFormed();
    return { ...finding, said: clean(finding.said), body };
  }
}
