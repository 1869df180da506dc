import type { WorkloadEvent, WorkloadHandle } from '@idunn/authority';
import type { Timers } from '@idunn/kernel';
import { watchPipe } from './death-pipe.ts';
import { type Standpoint, vital } from './identity.ts';
import { isErrno } from './proc.ts';

/** A process whose pipe ended is looked at again after these waits; it may still be on its way out. */
const AFTER_END_MS = [1, 2, 4, 8, 16, 32, 64] as const;

/**
 * A sweep asks the kernel whether each pid is there, which costs next to nothing, and looks at those whose pipe has
 * ended, which no event will tell of, and at one in so many of the others: their pids are recycled, or left as zombies,
 * beside a child that holds the pipe.
 */
const LOOKED_AT = 12;

interface Watched {
  readonly handle: WorkloadHandle;
  close: () => void;
  /** Its pipe has ended, and it was seen to live on. */
  isUntold: boolean;
}

/**
 * Tells the death of watched processes, once each: by the end of the inherited pipe, which a restarted daemon opens
 * anew, always confirmed by the identity. A slow sweep repairs what no event told (a program that closed the pipe, or
 * that left it to a child).
 */
export class DeathWatch {
  readonly #from: Standpoint;
  readonly #timers: Timers;
  readonly #repairMs: number;
  readonly #watched = new Map<string, Watched>();
  readonly #listeners: ((event: WorkloadEvent) => void)[] = [];
  #withdrawSweep: (() => void) | null = null;
  #sweeps = 0;

  constructor(from: Standpoint, timers: Timers, repairMs: number) {
    this.#from = from;
    this.#timers = timers;
    this.#repairMs = repairMs;
  }

  subscribe(listener: (event: WorkloadEvent) => void): void {
    this.#listeners.push(listener);
  }

  watch(handle: WorkloadHandle, fifo: string): void {
    if (this.#watched.has(handle.activation)) return;
    const watched: Watched = { handle, close: () => {}, isUntold: false };
    this.#watched.set(handle.activation, watched);
    watched.close = watchPipe(fifo, () => this.#afterEnd(watched, 0));
    this.#sweepLater();
  }

  /** Looks now: an event said that the process may have ended. */
  look(activation: string): void {
    const watched = this.#watched.get(activation);
    if (watched !== undefined) this.#tellIfGone(watched);
  }

  forget(activation: string): void {
    this.#watched.get(activation)?.close();
    this.#watched.delete(activation);
  }

  close(): void {
    for (const activation of this.#watched.keys()) this.forget(activation);
    this.#withdrawSweep?.();
  }

  #afterEnd(watched: Watched, look: number): void {
    if (this.#tellIfGone(watched)) return;
    watched.isUntold = true;
    const waitMs = AFTER_END_MS[look];
    if (waitMs !== undefined) watched.close = this.#timers.after(waitMs, () => this.#afterEnd(watched, look + 1));
  }

  /** True when there is nothing more to watch. Unknown is not gone (I10): the sweep asks again. */
  #tellIfGone(watched: Watched): boolean {
    const { activation, target, identity } = watched.handle;
    if (this.#watched.get(activation) !== watched) return true;
    if (vital(identity, this.#from).kind !== 'absent') return false;
    this.forget(activation);
    for (const listener of this.#listeners) listener({ kind: 'died', target, activation });
    return true;
  }

  #sweep(): void {
    this.#sweeps += 1;
    for (const [index, watched] of [...this.#watched.values()].entries()) {
      const isDue = watched.isUntold || (index + this.#sweeps) % LOOKED_AT === 0;
      if (isDue || !isThere(watched.handle.identity.pid)) this.#tellIfGone(watched);
    }
  }

  #sweepLater(): void {
    this.#withdrawSweep ??= this.#timers.after(this.#repairMs, () => {
      this.#withdrawSweep = null;
      this.#sweep();
      if (this.#watched.size > 0) this.#sweepLater();
    });
  }
}

/** Whether any process has the pid; only its absence says something of ours, and the look that follows confirms it. */
function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return !isErrno(error, 'ESRCH');
  }
}
