import { type Outcome, ok, type Timers } from '@idunn/kernel';
import type { ControlLink, HelperProtocol } from './link.ts';
import { type HelperLaunch, startHelper } from './start.ts';

/** What every helper says of itself. */
export interface HelperHello {
  readonly pid: number;
  /** Digest of the installed bytes that it was started from, as its starter named them. */
  readonly build: string;
}

export interface KeeperOptions<P extends HelperProtocol> {
  readonly link: ControlLink<P>;
  readonly launch: HelperLaunch;
  readonly codes: { readonly unreachable: string; readonly alreadyRunning: string };
  /** Told to the running helper that is to make way for the installed bytes; left out where it is never replaced. */
  readonly replace?: (hello: P['answers']['hello']) => Promise<'asked' | 'stays'>;
  readonly timers: Timers;
}

const RECONNECT_MS = { first: 5, most: 1_000 };
/** How often a helper that somebody else is starting, or one that makes way, is looked for, and how often at most. */
const ELSEWHERE = { everyMs: 20, times: 250 };

/** Keeps one helper running: found or started, and brought back at once when it dies, for ever. */
export class HelperKeeper<P extends HelperProtocol> {
  readonly #options: KeeperOptions<P>;
  #ensuring: Promise<Outcome<P['answers']['hello']>> | null = null;
  #kept = false;

  constructor(options: KeeperOptions<P>) {
    this.#options = options;
  }

  /** Connects to the helper, starting it when none runs, and from then on keeps it. Concurrent calls share one try. */
  ensure(): Promise<Outcome<P['answers']['hello']>> {
    this.#kept = true;
    return this.#attempt();
  }

  /** The link went down. */
  lost(): void {
    if (this.#kept) void this.#revive(RECONNECT_MS.first);
  }

  letGo(): void {
    this.#kept = false;
  }

  #attempt(): Promise<Outcome<P['answers']['hello']>> {
    this.#ensuring ??= this.#reach().finally(() => {
      this.#ensuring = null;
      if (!this.#kept) this.#options.link.close(); // It was let go while it was looked for.
    });
    return this.#ensuring;
  }

  async #reach(): Promise<Outcome<P['answers']['hello']>> {
    const { link, replace } = this.#options;
    const reached = await this.#reachAny();
    if (!reached.ok || replace === undefined || (await replace(reached.value)) === 'stays') return reached;
    for (let attempt = 0; attempt < ELSEWHERE.times && link.hello !== null; attempt++) await this.#pause();
    link.close();
    return this.#reachAny();
  }

  async #reachAny(): Promise<Outcome<P['answers']['hello']>> {
    const { link, launch, codes, timers } = this.#options;
    const running = await link.connect();
    if (running.ok || running.refusal.code !== codes.unreachable) return running;
    const started = await startHelper(launch, timers);
    if (started.ok) return link.connect();
    if (started.refusal.code !== codes.alreadyRunning) return started;
    for (let attempt = 0; attempt < ELSEWHERE.times; attempt++) {
      const elsewhere = await link.connect();
      if (elsewhere.ok || elsewhere.refusal.code !== codes.unreachable) return elsewhere;
      await this.#pause();
    }
    return running;
  }

  #pause(ms = ELSEWHERE.everyMs): Promise<void> {
    return new Promise((resolve) => void this.#options.timers.after(ms, resolve));
  }

  async #revive(waitMs: number): Promise<void> {
    if (!this.#kept || (await this.#attempt()).ok) return;
    await this.#pause(waitMs);
    await this.#revive(Math.min(waitMs * 2, RECONNECT_MS.most));
  }
}

/** The hello with whether it runs other bytes than are installed now. */
export const withOutdated = <H extends HelperHello>(
  reached: Outcome<H>,
  build: string,
): Outcome<H & { readonly outdated: boolean }> =>
  reached.ok ? ok({ ...reached.value, outdated: reached.value.build !== build }) : reached;
