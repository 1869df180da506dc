import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import { type Activation, type Envelope, type Machine, messageOf, readActivation } from '@idunn/workload/attending';
import { Book } from './book.ts';
import { Coalescer } from './coalescer.ts';
import { listenerOf } from './edge/listener.ts';
import { lives } from './edge/process.ts';
import { LIMITS } from './limits.ts';
import type { Finding } from './model/reading.ts';
import type { AttendedRecord } from './model/record.ts';
import { Turnstile } from './probes/turnstile.ts';
import { Subject, type SubjectParts, type SubjectView } from './subject.ts';

export interface AttendantOptions {
  readonly fleet: string;
  readonly bootId: string;
  readonly stateFile: string;
  readonly machine: Machine;
  readonly log: (line: string) => void;
}

/** Which process of which activation is to be spoken for. */
export type Ask = Pick<AttendedRecord, 'activation' | 'directory' | 'pid' | 'startTime'>;

export interface AttendantMetrics {
  readonly targets: number;
  readonly probes: number;
  readonly badReadings: number;
  readonly inFlight: number;
  readonly cpuSeconds: number;
  readonly residentBytes: number;
}

export interface Heard {
  readonly activation: string;
  readonly envelope: Envelope;
  readonly ageMs: number;
}

/** Speaks for every program of the fleet that does not speak for itself. */
export class Attendant {
  readonly #options: AttendantOptions;
  readonly #subjects = new Map<string, Subject>();
  readonly #book: Book;
  readonly #coalescer: Coalescer;
  readonly #turnstiles = { connection: new Turnstile(LIMITS.connections), command: new Turnstile(LIMITS.commands) };
  readonly #listeners = new Set<(heard: Heard) => void>();
  #probes = 0;
  #badReadings = 0;

  private constructor(options: AttendantOptions) {
    this.#options = options;
    this.#coalescer = new Coalescer(options.machine);
    const { fleet, bootId, stateFile } = options;
    this.#book = new Book(stateFile, { fleet, bootId }, () => [...this.#subjects.values()].map(({ record }) => record));
  }

  /** Takes up what an earlier attendant of this boot attended. */
  static async open(options: AttendantOptions): Promise<Outcome<Attendant>> {
    const attendant = new Attendant(options);
    const records = await attendant.#book.read();
    if (!records.ok) return records;
    const living = records.value.filter(({ pid, startTime }) => lives(pid, startTime) !== 'no');
    // Spread in time: a thousand probes at once would be a load that nobody asked for.
    for (const [index, record] of living.entries()) {
      const taken = attendant.#take(record, (index / living.length) * LIMITS.spreadMs);
      if (!taken.ok) options.log(`${record.activation} is attended no more: ${taken.refusal.reason}`);
    }
    return ok(attendant);
  }

  /** Attends a process from now on; the same one again changes nothing. Answers its newest presence, if it has one. */
  async attend(ask: Ask): Promise<Outcome<{ readonly presence: Heard | null }>> {
    const known = this.#subjects.get(ask.activation)?.record;
    if (known?.pid === ask.pid && known.startTime === ask.startTime)
      return ok({ presence: this.#newest(ask.activation) });
    const { pid, startTime } = ask;
    if (lives(pid, startTime) === 'no') {
      return refused(refusal('attended-process-gone', `Process ${pid} of ${ask.activation} is gone.`));
    }
    if (known === undefined && this.#subjects.size >= LIMITS.targets) {
      return refused(refusal('attendant-limit-reached', `${LIMITS.targets} programs are attended already.`));
    }
    this.#drop(ask.activation);
    const taken = this.#take({ ...ask, epoch: null, verdict: 'unproven' }, 0);
    if (!taken.ok) return taken;
    const kept = await this.#book.keep();
    if (kept.ok) return ok({ presence: this.#newest(ask.activation) });
    this.#drop(ask.activation);
    return kept;
  }

  async forget(activation: string): Promise<Outcome<'forgotten'>> {
    if (this.#drop(activation)) void this.#keep();
    return ok('forgotten');
  }

  /** Answers once the epoch is kept: what is said under it survives this process. */
  async grant(activation: string, epoch: number): Promise<Outcome<'granted'>> {
    const subject = this.#subjects.get(activation);
    if (subject === undefined) {
      return refused(refusal('attended-unknown', `Activation ${activation} is not attended.`));
    }
    if (subject.grant(epoch) === 'outdated') {
      return refused(refusal('attended-epoch-outdated', `Epoch ${epoch} is lower than ${activation} holds already.`));
    }
    const kept = await this.#book.keep();
    return kept.ok ? ok('granted') : kept;
  }

  /** A page of what is known, ordered by activation; `after` is the last one of the page before. */
  list(after: string): readonly SubjectView[] {
    const names = [...this.#subjects.keys()].filter((activation) => activation > after).sort();
    return names.slice(0, LIMITS.page).flatMap((activation) => this.view(activation) ?? []);
  }

  view(activation: string): SubjectView | null {
    return this.#subjects.get(activation)?.view() ?? null;
  }

  metrics(): AttendantMetrics {
    const { user, system } = process.cpuUsage();
    return {
      targets: this.#subjects.size,
      probes: this.#probes,
      badReadings: this.#badReadings,
      inFlight: this.#turnstiles.connection.inside + this.#turnstiles.command.inside,
      cpuSeconds: (user + system) / 1e6,
      residentBytes: process.memoryUsage.rss(),
    };
  }

  /** Each presence as it is signed. Answers how to end it. */
  subscribe(listener: (heard: Heard) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Ends in order: what is attended stays in the file for who follows. */
  async close(): Promise<void> {
    for (const subject of this.#subjects.values()) subject.stop();
    await this.#keep();
  }

  #newest(activation: string): Heard | null {
    const presence = this.#subjects.get(activation)?.presence ?? null;
    return presence === null ? null : { activation, ...presence };
  }

  #take(record: AttendedRecord, delayMs: number): Outcome<Subject> {
    const read = this.#read(record);
    if (!read.ok) return read;
    const { attended } = read.value.launch;
    if (attended === null) {
      return refused(refusal('attended-launch-invalid', `Activation ${record.activation} speaks for itself.`));
    }
    try {
      const subject = new Subject(read.value, attended, record, this.#parts());
      this.#subjects.set(record.activation, subject);
      subject.begin(delayMs);
      return ok(subject);
    } catch (error) {
      return invalid(record, error);
    }
  }

  #read(record: AttendedRecord): Outcome<Activation> {
    try {
      const activation = readActivation(record.directory, record.activation);
      const { fleet } = activation.launch.audience;
      if (fleet === this.#options.fleet) return ok(activation);
      return refused(refusal('attended-launch-invalid', `${record.directory} belongs to fleet ${fleet}.`));
    } catch (error) {
      return invalid(record, error);
    }
  }

  #parts(): SubjectParts {
    const { machine, log } = this.#options;
    return {
      machine,
      log,
      turn: (kind, look) => this.#turnstiles[kind].pass(() => this.#counted(look)),
      listener: listenerOf,
      coalescer: this.#coalescer,
      spoke: ({ record }, envelope) => {
        for (const listener of this.#listeners) listener({ activation: record.activation, envelope, ageMs: 0 });
      },
      verdict: () => this.#keep(),
      gone: ({ record }) => {
        log(`process ${record.pid} of ${record.activation} is gone`);
        void this.forget(record.activation);
      },
    };
  }

  async #counted(look: () => Promise<Finding>): Promise<Finding> {
    const finding = await look();
    this.#probes += 1;
    if (!finding.good) this.#badReadings += 1;
    return finding;
  }

  async #keep(): Promise<void> {
    const kept = await this.#book.keep();
    if (!kept.ok) this.#options.log(kept.refusal.reason);
  }

  #drop(activation: string): boolean {
    this.#subjects.get(activation)?.stop();
    return this.#subjects.delete(activation);
  }
}

const invalid = ({ activation }: AttendedRecord, error: unknown): Outcome<never> =>
  refused(refusal('attended-launch-invalid', `Activation ${activation} cannot be attended: ${messageOf(error)}.`));
