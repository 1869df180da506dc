import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Orders } from './orders.ts';
import { found, signal } from './processes.ts';
import type { Build, Planned, Role, Target } from './schedule.ts';
import type { Stage } from './stage.ts';
import type { Supervisor } from './supervisor.ts';

const LOOK_MS = 20;
/** A launcher, or a phase, is waited for so long. */
const WATCH_MS = 20_000;

/** Does what the schedule says, and counts what really was done. */
export class Deeds {
  /** By kind; a signal only when a process got it. */
  readonly done: Record<string, number> = {};
  kills = 0;
  deploys = 0;
  readonly #stage: Stage;
  readonly #orders: Orders;
  readonly #supervisor: Supervisor;
  readonly #underway = new Set<Promise<void>>();
  readonly #faults: unknown[] = [];

  constructor(stage: Stage, orders: Orders, supervisor: Supervisor) {
    this.#stage = stage;
    this.#orders = orders;
    this.#supervisor = supervisor;
  }

  /** Begins the deed; what takes its time goes on beside the next ones. */
  begin(deed: Planned): void {
    const doing = this.#do(deed)
      .catch((fault) => {
        this.#faults.push(fault);
      })
      .finally(() => this.#underway.delete(doing));
    this.#underway.add(doing);
  }

  /** Throws what went wrong in our own hands. */
  async finish(): Promise<void> {
    while (this.#underway.size > 0) await Promise.all(this.#underway);
    if (this.#faults.length > 0) throw new AggregateError(this.#faults, `${this.#faults.length} deeds went wrong`);
  }

  /** A new commit of the target, and the order to deploy it. */
  async deploy(target: Target, build: Build): Promise<string | null> {
    await this.#stage.commit(target, build);
    const transaction = await this.#orders.give({ kind: 'up', target, ref: null });
    if (transaction !== null) this.deploys += 1;
    return transaction;
  }

  async #do(deed: Planned): Promise<void> {
    switch (deed.kind) {
      case 'kill':
        if (deed.role === 'daemon') return this.#killDaemon(deed.awayMs);
        return this.#hit(deed.role, deed.which, (pid) => this.#kill(pid, `kill ${deed.role}`));
      case 'stop':
        return this.#hit(deed.role, deed.which, async (pid) => {
          if (!signal(pid, 'SIGSTOP')) return;
          this.#count(`stop ${deed.role}`);
          await pause(deed.forMs);
          signal(pid, 'SIGCONT');
        });
      case 'deploy':
        if ((await this.deploy(deed.target, deed.build)) !== null) this.#count(`deploy ${deed.build}`);
        return;
      case 'kill-in':
        return this.#killIn(deed.target, deed.phase, deed.awayMs);
      case 'kill-launcher':
        return this.#killLauncher();
      case 'restart':
        if ((await this.#orders.give({ kind: 'restart', target: deed.target })) !== null) this.#count('restart');
        return;
      case 'cancel':
      case 'expire':
        return this.#withdraw(deed.kind, deed.target);
      case 'freeze':
      case 'hold':
        return this.#brake(deed.kind, deed.target, deed.forMs);
      case 'fill-disk':
        return this.#fillDisk(deed.forMs);
    }
  }

  async #hit(role: Role, which: number, act: (pid: number) => void | Promise<void>): Promise<void> {
    const all = found(this.#stage.fleet).filter((one) => one.role === role);
    const one = all[Math.floor(which * all.length)];
    if (one !== undefined) await act(one.pid);
  }

  #kill(pid: number, name: string): void {
    if (!signal(pid, 'SIGKILL')) return;
    this.kills += 1;
    this.#count(name);
  }

  #killDaemon(awayMs: number): void {
    if (!this.#supervisor.kill(awayMs)) return;
    this.kills += 1;
    this.#count('kill daemon');
  }

  async #killIn(target: Target, phase: string, awayMs: number): Promise<void> {
    const transaction = await this.deploy(target, 'good');
    if (transaction === null) return;
    const signal = AbortSignal.timeout(WATCH_MS);
    for await (const followed of this.#stage.fleet.client.events({ transaction, signal })) {
      const phases =
        followed.kind === 'snapshot'
          ? followed.transaction.phases.map((one) => one.phase)
          : followed.kind === 'event' && followed.event.event === 'phase'
            ? [followed.event.phase]
            : [];
      if (phases.includes(phase)) {
        this.#count(`kill daemon in ${phase}`);
        return this.#killDaemon(awayMs);
      }
      if (followed.kind === 'snapshot' && followed.transaction.result !== null) return;
      if (followed.kind === 'event' && followed.event.event === 'outcome') return;
    }
  }

  async #killLauncher(): Promise<void> {
    const until = performance.now() + WATCH_MS;
    if ((await this.deploy('notes', 'good')) === null) return;
    while (performance.now() < until) {
      const launcher = found(this.#stage.fleet).find(({ role }) => role === 'launcher');
      if (launcher !== undefined) return this.#kill(launcher.pid, 'kill launcher');
      await pause(LOOK_MS);
    }
  }

  async #withdraw(kind: 'cancel' | 'expire', target: Target): Promise<void> {
    const transaction = this.#orders.newest(target);
    if (transaction !== undefined && (await this.#orders.give({ kind, transaction })) !== null) this.#count(kind);
  }

  async #brake(kind: 'freeze' | 'hold', target: Target, forMs: number): Promise<void> {
    const engaged = await this.#stage.fleet.idunn(kind, 'engage', target, '--reason', 'chaos');
    if (engaged.code === 0) this.#count(kind);
    await pause(forMs);
    await this.#stage.fleet.idunn(kind, 'clear', target);
  }

  async #fillDisk(forMs: number): Promise<void> {
    const { disk } = this.#stage;
    if (disk === null) return;
    const ballast = join(disk, 'ballast');
    fill(ballast);
    this.#count('fill-disk');
    await pause(forMs);
    rmSync(ballast, { force: true });
  }

  #count(name: string): void {
    this.done[name] = (this.done[name] ?? 0) + 1;
  }
}

/** Writes until not a single block is free. */
function fill(file: string): void {
  const descriptor = openSync(file, 'a');
  try {
    for (let bytes = 1 << 20; bytes >= 4_096; ) {
      try {
        writeSync(descriptor, Buffer.alloc(bytes, 1));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
        bytes /= 2;
      }
    }
  } finally {
    closeSync(descriptor);
  }
}
