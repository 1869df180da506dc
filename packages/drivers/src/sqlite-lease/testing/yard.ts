import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import type { SwapRequest } from '@idunn/authority';
import type { Outcome } from '@idunn/kernel';
import type { StateContract, StateStore } from '@idunn/release';
import { createSqliteLease, type SqliteLease } from '../driver.ts';

/** A state root of its own, a lease driver, and real programs that write. */
export class Yard {
  readonly root: string;
  readonly lease: SqliteLease = createSqliteLease();
  readonly #programs: ChildProcess[] = [];

  constructor(t: TestContext) {
    this.root = mkdtempSync(join(tmpdir(), 'idunn-l-'));
    t.after(() => this.#close());
  }

  state(...stores: readonly StateStore[]): StateContract {
    const only: StateStore = { id: 'db', kind: 'sqlite', path: 'app.db' };
    return {
      stateId: 'game',
      schema: 'v1',
      accepts: ['v1'],
      root: this.root,
      stores: stores.length === 0 ? [only] : stores,
      lease: 'rows',
      fence: 'epoch-raised',
    };
  }

  path(store: string): string {
    return join(this.root, store);
  }

  /** A writer that is ready. `lines` tells what it says; `grant` tells it an epoch. */
  async writer(activation: string, connections: number, ...stores: readonly string[]): Promise<Writer> {
    const child = this.#spawn('writer.ts', [
      activation,
      String(connections),
      ...stores.map((store) => this.path(store)),
    ]);
    const writer = new Writer(child);
    await writer.said('ready');
    return writer;
  }

  /** A process that holds the store's write lock. */
  async holder(store: string): Promise<Program> {
    const program = new Program(this.#spawn('holder.ts', [this.path(store)]));
    await program.said('holding');
    return program;
  }

  /** A daemon that moves the row to itself again and again; `wrapper` comes before its argv. */
  racer(state: StateContract, name: string, turns: number, wrapper: readonly string[] = []): Racer {
    return new Racer(this.#spawn('racer.ts', [JSON.stringify(state), name, String(turns)], wrapper));
  }

  #spawn(file: string, args: readonly string[], wrapper: readonly string[] = []): ChildProcess {
    const script = new URL(file, import.meta.url).pathname;
    const words = [...wrapper, process.execPath, '--conditions=source', script, ...args];
    const child = spawn(words[0] ?? '', words.slice(1), { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#programs.push(child);
    return child;
  }

  async #close(): Promise<void> {
    for (const program of this.#programs) await end(program);
    await this.lease.close();
    rmSync(this.root, { recursive: true });
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

export class Program {
  readonly child: ChildProcess;
  readonly #said = new Set<string>();
  readonly #waiting = new Map<string, () => void>();

  constructor(child: ChildProcess) {
    this.child = child;
    if (child.stdout === null) throw new Error('the program has no stdout');
    createInterface({ input: child.stdout }).on('line', (line) => {
      this.#said.add(line);
      this.#waiting.get(line)?.();
    });
  }

  said(line: string): Promise<void> {
    if (this.#said.has(line)) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.set(line, resolve));
  }

  kill(): Promise<void> {
    return end(this.child);
  }
}

export class Writer extends Program {
  grant(epoch: number): void {
    this.child.stdin?.write(`${epoch}\n`);
  }
}

/** The answers of a racer, as they came. */
export class Racer {
  readonly child: ChildProcess;
  readonly answers: { readonly kind: string; readonly epoch: number }[] = [];
  readonly ended: Promise<unknown>;

  constructor(child: ChildProcess) {
    if (child.stdout === null) throw new Error('the racer has no stdout');
    this.child = child;
    const lines = createInterface({ input: child.stdout });
    lines.on('line', (line) => this.answers.push(JSON.parse(line)));
    this.ended = once(lines, 'close');
  }

  get epochs(): readonly number[] {
    return this.answers.filter(({ kind }) => kind === 'swapped').map(({ epoch }) => epoch);
  }

  /** Resolves once it has moved the row so often. */
  async moved(times: number): Promise<void> {
    while (this.epochs.length < times) await once(this.child.stdout ?? this.child, 'data');
  }
}

/** A swap from one holder and epoch to another's next. */
export const move = (from: SwapRequest['from'], activation: string | null, deadlineMs = 20_000): SwapRequest => ({
  from,
  to: { epoch: from.epoch + 1, activation, release: null, stateSchema: 'v1' },
  deadlineMs,
});

export const codeOf = (outcome: Outcome<unknown>): string => (outcome.ok ? 'ok' : outcome.refusal.code);
