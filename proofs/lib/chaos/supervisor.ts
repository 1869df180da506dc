import { setTimeout as pause } from 'node:timers/promises';
import type { Fleet } from '../../../tests/e2e/lib/fleet.ts';
import { found, signal } from './processes.ts';

const LOOK_MS = 200;

/** Starts the daemon again when it has ended, as the machine's service manager would. */
export class Supervisor {
  /** Ends, caused by nobody here, of daemons that served: one that finds the disk full does not begin, and says so. */
  ownEnds = 0;
  starts = 0;
  readonly #fleet: Fleet;
  readonly #killed = new Set<number>();
  readonly #served = new Set<number>();
  readonly #enough = new AbortController();
  readonly #loop: Promise<void>;
  #known: number | null = null;
  #awayUntilMs = 0;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
    this.#loop = this.#run();
  }

  /** `kill -9`, and no new one before `awayMs` have gone by. False when none ran. */
  kill(awayMs: number): boolean {
    const daemons = found(this.#fleet).filter(({ role }) => role === 'daemon');
    this.#awayUntilMs = performance.now() + awayMs;
    return (
      daemons.filter(({ pid }) => {
        this.#killed.add(pid);
        return signal(pid, 'SIGKILL');
      }).length > 0
    );
  }

  async stop(): Promise<void> {
    this.#enough.abort();
    await this.#loop;
  }

  async #run(): Promise<void> {
    while (!this.#enough.signal.aborted) {
      await pause(LOOK_MS);
      const daemon = found(this.#fleet).find(({ role }) => role === 'daemon');
      if (daemon !== undefined) await this.#see(daemon.pid);
      else if (performance.now() >= this.#awayUntilMs) await this.#start();
    }
  }

  async #see(pid: number): Promise<void> {
    this.#known = pid;
    if (this.#served.has(pid)) return;
    const answered = await this.#fleet.client.version();
    if (answered.ok) this.#served.add(answered.value.pid);
  }

  async #start(): Promise<void> {
    if (this.#known !== null && this.#served.has(this.#known) && !this.#killed.has(this.#known)) this.ownEnds += 1;
    this.#known = null;
    // A full disk refuses a daemon; the next look asks again.
    const started = await this.#fleet.idunn('daemon', '--detach', '--json');
    if (started.code === 0) this.starts += 1;
  }
}
