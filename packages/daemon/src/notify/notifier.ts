import type { IncidentEvent } from '@idunn/authority';
import type { Timers } from '@idunn/kernel';

/** What a notifier is told: nothing of it ever comes from a secret (F30). */
export interface Notice
  extends Pick<IncidentEvent, 'at' | 'target' | 'state' | 'incident' | 'code' | 'detail' | 'remedy'> {
  readonly schema: 'idunn.notice/v1';
  readonly fleet: string;
}

/** One way to reach a person. Throws when it did not. What it started ends with `over`. */
export interface Way {
  readonly id: string;
  deliver(notice: Notice, over: AbortSignal): Promise<void>;
}

/** Notices that wait for one way; the oldest are let go beyond it. */
export const QUEUE_LIMIT = 256;
/** Wait before a delivery that failed is tried again. */
export const RETRY_MS = { first: 1_000, most: 300_000 } as const;

/**
 * Delivers notices in order over one way, again and again until each was taken. Nothing waits for it: a way that is
 * down keeps its own queue, and no target.
 */
export class Notifier {
  readonly #way: Way;
  readonly #timers: Timers;
  readonly #taken: (notice: Notice) => void;
  readonly #log: (text: string) => void;
  readonly #queue: Notice[] = [];
  #busy = false;
  #retryMs: number = RETRY_MS.first;
  #cancelRetry: (() => void) | null = null;
  readonly #over = new AbortController();

  constructor(way: Way, timers: Timers, taken: (notice: Notice) => void, log: (text: string) => void) {
    this.#way = way;
    this.#timers = timers;
    this.#taken = taken;
    this.#log = log;
  }

  /** Answers the notice that is let go for this one, where there is no room. */
  tell(notice: Notice): Notice | null {
    this.#queue.push(notice);
    const gone = this.#queue.length > QUEUE_LIMIT ? this.#queue.shift() : undefined;
    if (this.#cancelRetry === null) void this.#next();
    return gone ?? null;
  }

  stop(): void {
    this.#over.abort();
    this.#cancelRetry?.();
  }

  async #next(): Promise<void> {
    const notice = this.#queue[0];
    if (notice === undefined || this.#busy || this.#over.signal.aborted) return;
    this.#busy = true;
    const fault = await this.#way.deliver(notice, this.#over.signal).then(
      () => null,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    this.#busy = false;
    if (this.#over.signal.aborted) return;
    if (fault !== null) return this.#again(fault);
    this.#retryMs = RETRY_MS.first;
    const at = this.#queue.indexOf(notice);
    if (at !== -1) this.#queue.splice(at, 1);
    this.#taken(notice);
    await this.#next();
  }

  #again(fault: string): void {
    this.#log(`notifier ${this.#way.id}: ${fault}; ${this.#queue.length} notices wait`);
    this.#cancelRetry = this.#timers.after(this.#retryMs, () => {
      this.#cancelRetry = null;
      void this.#next();
    });
    this.#retryMs = Math.min(this.#retryMs * 2, RETRY_MS.most);
  }
}
