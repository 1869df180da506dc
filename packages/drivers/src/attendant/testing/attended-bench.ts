import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { ChannelEvent, WorkloadHandle } from '@idunn/authority';
import { ok, publicKeyOf, systemClock, systemTimers } from '@idunn/kernel';
import { lineReader, type Presence } from '@idunn/readiness';
import type { HealthContract, StateContract } from '@idunn/release';
import { identify, ownStandpoint, signal, vital } from '../../process/identity.ts';
import { Bench, must } from '../../process/testing/bench.ts';
import { type AttendantDriver, createAttendantDriver } from '../driver.ts';

/** The attendant is another program: it is started from the repository as the daemon would start it, never imported. */
const MAIN = join(import.meta.dirname, '../../../../attendant/src/main.ts');

const HEALTH: HealthContract = {
  kind: 'attended',
  path: null,
  freshnessMs: 1_000,
  probe: { kind: 'command', argv: [{ slot: 'artifact:app/check' }] },
  intervalMs: 20,
  timeoutMs: 1_000,
  successes: 1,
  failures: 2,
};

/** A fleet with attended programs: real processes, a real attendant, and an observer that only listens. */
export class AttendedBench extends Bench {
  readonly observed: Presence[] = [];
  readonly heard: ChannelEvent[] = [];
  readonly opened: { readonly activation: string; readonly epoch: number }[] = [];
  readonly #own: string;
  readonly #observer: Server;
  readonly #connections = new Set<Socket>();
  readonly #drivers: AttendantDriver[] = [];
  #changed = (): void => undefined;

  constructor(t: TestContext, own = mkdtempSync(join(tmpdir(), 'idunn-a-'))) {
    const socket = join(own, 'observer.sock');
    super(t, { observerEndpoint: () => ({ socket, keyId: 'ed25519:0', publicKey: '' }) });
    t.after(() => this.#end());
    this.#own = own;
    writeFileSync(this.file('check'), '#!/bin/sh\ncat answer\ntest ! -e bad\n', { mode: 0o755 });
    writeFileSync(this.file('answer'), 'well');
    this.#observer = createServer((connection) => this.#observe(connection)).listen(socket);
  }

  get controlSocket(): string {
    return join(this.#own, 'attendant.sock');
  }

  /** A daemon's driver; `build` names the bytes that it has installed. */
  attendant(build = 'one'): AttendantDriver {
    const made = createAttendantDriver({
      fleet: 'bench',
      audience: { fleet: 'bench', machine: 'local' },
      program: [process.execPath, '--conditions=source', MAIN],
      build,
      controlSocket: this.controlSocket,
      stateFile: join(this.#own, 'attendant.json'),
      logFile: join(this.#own, 'attendant.log'),
      activationDirectory: (activation) => this.driver.activationDirectory(activation),
      activation: (activation) => this.driver.activation(activation),
      anchors: () => [{ publicKey: publicKeyOf(this.signerKey.privateKey) }],
      openGate: ({ activation }, { epoch }) => {
        this.opened.push({ activation, epoch });
        return Promise.resolve(ok('open'));
      },
      clock: systemClock(),
      timers: systemTimers,
    });
    made.subscribe((event) => {
      this.heard.push(event);
      this.#changed();
    });
    this.#drivers.push(made);
    return made;
  }

  /** A running program that knows nothing of Idunn. */
  async attended(
    state: StateContract | null = null,
    more: { readonly freshnessMs?: number } = {},
  ): Promise<WorkloadHandle> {
    const launch = this.sleep();
    const activation = must(
      await this.driver.mint(this.mintRequest(launch, { health: { ...HEALTH, ...more }, state })),
    );
    const handle = must(await this.driver.start(this.launchRequest(activation, launch, state)));
    this.handles.push(handle);
    return handle;
  }

  goesBad(answer: string): void {
    writeFileSync(this.file('answer'), answer);
    writeFileSync(this.file('bad'), '');
  }

  /** Resolves once what was heard makes it hold. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    }
  }

  /** The states that a daemon heard, repeats left out. */
  states({ activation }: WorkloadHandle): string {
    const words = this.heard.flatMap((event) =>
      event.kind === 'presence' && event.activation === activation ? [event.presence.state] : [],
    );
    return words.filter((word, index) => word !== words[index - 1]).join(' ');
  }

  #observe(connection: Socket): void {
    this.#connections.add(connection);
    connection.on('close', () => this.#connections.delete(connection)).on('error', () => undefined);
    const read = lineReader((_, envelope) => {
      const { payload } = envelope as { payload: string };
      this.observed.push(JSON.parse(Buffer.from(payload, 'base64').toString('utf8')) as Presence);
      this.#changed();
    });
    connection.on('data', (chunk: Buffer) => void read(chunk));
  }

  async #end(): Promise<void> {
    for (const driver of this.#drivers) {
      const status = await driver.status();
      driver.letGo();
      if (status.kind === 'seen') await killed(status.value.pid);
    }
    for (const connection of this.#connections) connection.destroy();
    this.#observer.close();
    rmSync(this.#own, { recursive: true });
  }
}

/** Kills a process and resolves once it runs no more. */
export async function killed(pid: number): Promise<void> {
  const from = ownStandpoint(systemClock().bootId);
  const identity = identify(pid, null, from);
  if (identity.kind !== 'seen') return;
  signal(identity.value, 'SIGKILL', from);
  while (vital(identity.value, from).kind === 'seen') await new Promise((resolve) => setImmediate(resolve));
}
