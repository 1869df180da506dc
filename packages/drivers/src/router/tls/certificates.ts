import { type FSWatcher, watch } from 'node:fs';
import { dirname } from 'node:path';
import type { CertificateState } from '@idunn/authority';
import { type Outcome, ok, type Refusal, refused, type Timers } from '@idunn/kernel';
import type { RouteContract } from '@idunn/release';
import { LIMITS } from '../limits.ts';
import type { Log } from '../log.ts';
import { type Pair, type PairFiles, readPair } from './pair.ts';

interface Held {
  readonly files: PairFiles;
  /** The last pair that was whole: it is served until a newer one is (F26). */
  pair: Pair | null;
  /** Why what the files hold now is not served. */
  problem: Refusal | null;
  readonly watchers: readonly FSWatcher[];
  withdrawReading: (() => void) | null;
  reading: Promise<void>;
}

const idOf = ({ certificate, key }: PairFiles): string => `${certificate}\n${key}`;

/**
 * The certificates of all routes. Each pair of files is read when a route first names it, and again when its directory
 * tells of a change; connections that stand keep what they began with.
 */
export class Certificates {
  readonly #held = new Map<string, Held>();
  readonly #timers: Timers;
  readonly #log: Log;
  readonly #changed: (what: 'served' | 'problem') => void;

  /** `changed` is called when another pair is served from now on, or the files have another problem. */
  constructor(timers: Timers, log: Log, changed: (what: 'served' | 'problem') => void) {
    this.#timers = timers;
    this.#log = log;
    this.#changed = changed;
  }

  /**
   * Reads the pairs of a contract that is to be staged: what cannot be served is refused before it is saved. A pair of
   * which an earlier version is served is no reason to hold a deployment up; its problem is told by `states`.
   */
  async admit(contract: RouteContract): Promise<Outcome<'usable'>> {
    for (const files of contract.tls?.certificates ?? []) {
      const held = this.#hold(files);
      this.#read(held);
      await held.reading;
      if (held.pair === null && held.problem !== null) return refused(held.problem);
    }
    return ok('usable');
  }

  /** Reads the pairs of what is served already; a faulty one is a problem of that route and of no other. */
  async resume(contract: RouteContract): Promise<void> {
    for (const files of contract.tls?.certificates ?? []) {
      const held = this.#hold(files);
      if (held.pair === null) this.#read(held);
      await held.reading;
    }
  }

  /** What a client is shown that asks for `name`: the first certificate that is for it, else the first of all. */
  pairFor(contract: RouteContract, name: string): Pair | null {
    const pairs = this.#of(contract).flatMap(({ pair }) => (pair === null ? [] : [pair]));
    return pairs.find((pair) => pair.fits(name)) ?? pairs[0] ?? null;
  }

  states(contract: RouteContract): readonly CertificateState[] {
    return this.#of(contract).map(({ files, pair, problem }) => ({
      file: files.certificate,
      names: pair?.names ?? [],
      validFromMs: pair?.fromMs ?? null,
      expiresAtMs: pair?.untilMs ?? null,
      problem: problem?.reason ?? null,
    }));
  }

  /** Reads every file again now. */
  async reload(): Promise<void> {
    for (const held of this.#held.values()) this.#read(held);
    await Promise.all([...this.#held.values()].map(({ reading }) => reading));
  }

  /** Forgets what none of these contracts names. */
  keep(contracts: readonly RouteContract[]): void {
    const used = new Set(contracts.flatMap(({ tls }) => (tls?.certificates ?? []).map(idOf)));
    for (const [id, held] of this.#held) if (!used.has(id)) this.#drop(id, held);
  }

  close(): void {
    for (const [id, held] of this.#held) this.#drop(id, held);
  }

  #of(contract: RouteContract): readonly Held[] {
    return (contract.tls?.certificates ?? []).flatMap((files) => this.#held.get(idOf(files)) ?? []);
  }

  #hold(files: PairFiles): Held {
    const known = this.#held.get(idOf(files));
    if (known !== undefined) return known;
    // The directories, not the files: a renewal puts another file, or another link, in the place of the old one.
    const directories = new Set([dirname(files.certificate), dirname(files.key)]);
    const held: Held = {
      files,
      pair: null,
      problem: null,
      watchers: [...directories].flatMap((directory) => this.#watch(directory, () => this.#soon(held))),
      withdrawReading: null,
      reading: Promise.resolve(),
    };
    this.#held.set(idOf(files), held);
    return held;
  }

  #watch(directory: string, tell: () => void): readonly FSWatcher[] {
    const lost = (error: Error): void => this.#log.write('certificate-unwatched', { directory, error: error.message });
    try {
      const watcher = watch(directory, { persistent: false }, tell);
      watcher.on('error', lost);
      return [watcher];
    } catch (error) {
      lost(error as Error);
      return [];
    }
  }

  /** A pair is two files: what follows closely belongs to the same change. */
  #soon(held: Held): void {
    held.withdrawReading?.();
    held.withdrawReading = this.#timers.after(LIMITS.certificateSettleMs, () => {
      held.withdrawReading = null;
      this.#read(held);
    });
  }

  #read(held: Held): void {
    held.reading = this.#readAfter(held.reading, held);
  }

  async #readAfter(before: Promise<void>, held: Held): Promise<void> {
    await before;
    const read = await readPair(held.files);
    const told = held.problem?.reason;
    held.problem = read.ok ? null : read.refusal;
    if (!read.ok) {
      this.#log.write(read.refusal.code, { reason: read.refusal.reason });
      if (told !== read.refusal.reason) this.#changed('problem');
      return;
    }
    held.pair = read.value;
    this.#log.write('certificate-served', { file: held.files.certificate });
    this.#changed('served');
  }

  #drop(id: string, held: Held): void {
    held.withdrawReading?.();
    for (const watcher of held.watchers) watcher.close();
    this.#held.delete(id);
  }
}
