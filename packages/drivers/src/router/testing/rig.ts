import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RouteEvent, RouteMember } from '@idunn/authority';
import { type Outcome, randomIds, systemClock, systemTimers } from '@idunn/kernel';
import type { RouteContract } from '@idunn/release';
import { createRouterDriver, type RouterDriver, type RouterDriverOptions } from '../driver/driver.ts';
import { type Backend, type Handler, startBackend } from './backend.ts';

export interface Rig {
  readonly directory: string;
  readonly driver: RouterDriver;
  readonly events: RouteEvent[];
  readonly stateFile: string;
  /** Another driver on the same router. */
  readonly another: (fleet?: string, more?: Partial<RouterDriverOptions>) => RouterDriver;
  readonly backend: (name: string, handler?: Handler) => Promise<Backend>;
  /** Stages and publishes. */
  readonly serve: (contract: RouteContract, members: readonly RouteMember[], target?: string) => Promise<void>;
  /** Resolves with the first event, past or coming, that fits. */
  readonly event: (fits: (event: RouteEvent) => boolean) => Promise<RouteEvent>;
  readonly pid: () => Promise<number>;
}

/** A test, or a whole file of tests: where to say what is to be cleaned up. */
export interface Scope {
  after(clean: () => unknown): void;
}

/** A fleet's router as a real process, with everything ended and removed after the test. */
export async function rig(test: Scope, more: { readonly start?: boolean } = {}): Promise<Rig> {
  const directory = await mkdtemp(join(tmpdir(), 'idunn-router-'));
  const stateFile = join(directory, 'state', 'router.json');
  const events: RouteEvent[] = [];
  const waiters = new Set<(event: RouteEvent) => void>();
  const another = (fleet = 'test-fleet', more: Partial<RouterDriverOptions> = {}): RouterDriver =>
    createRouterDriver({
      fleet,
      controlSocket: join(directory, 'run', 'router.sock'),
      stateFile,
      logFile: join(directory, 'log', 'router.log'),
      build: 'sha256:installed',
      redact: (_, text) => Promise.resolve(text.replaceAll('hunter2', '[secret]')),
      clock: systemClock(),
      timers: systemTimers,
      ids: randomIds,
      ...more,
    });
  const driver = another();
  driver.subscribe((event) => {
    events.push(event);
    for (const waiter of waiters) waiter(event);
  });
  test.after(async () => {
    const running = await driver.ensure();
    await driver.stop();
    if (running.ok) await gone(running.value.pid);
    driver.close();
    await rm(directory, { recursive: true, force: true });
  });
  if (more.start !== false) value(await driver.ensure());
  return {
    directory,
    driver,
    events,
    stateFile,
    another,
    async backend(name, handler) {
      const backend = await startBackend(name, handler);
      test.after(() => backend.close());
      return backend;
    },
    async serve(contract, members, target = 'web') {
      value(await driver.publish(value(await driver.stage(target, contract, members))));
    },
    event(fits) {
      const past = events.find(fits);
      if (past !== undefined) return Promise.resolve(past);
      return new Promise((resolve) => {
        const waiter = (event: RouteEvent): void => {
          if (!fits(event)) return;
          waiters.delete(waiter);
          resolve(event);
        };
        waiters.add(waiter);
      });
    },
    async pid() {
      return value(await driver.ensure()).pid;
    },
  };
}

/** The value of an outcome, or the test fails with the refusal. */
export function value<T>(outcome: Outcome<T>): T {
  if (outcome.ok) return outcome.value;
  throw new Error(`${outcome.refusal.code}: ${outcome.refusal.reason}`);
}

/**
 * Ports for listeners that end and come back. They lie below the range from which the kernel serves outgoing
 * connections: one of those could take a port while its router is dead. Each test process begins at a place of its own.
 */
const PORTS = { from: 10_000, to: 20_000, each: 50 };
let nextPort = PORTS.from + ((process.pid * PORTS.each) % (PORTS.to - PORTS.from));

/** A port that was free a moment ago, and that no other test of this process was given. */
export async function freePort(): Promise<number> {
  const server = createServer();
  for (let tried = PORTS.from; tried < PORTS.to; tried++) {
    const port = nextPort;
    nextPort = port + 1 < PORTS.to ? port + 1 : PORTS.from;
    const free = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen({ host: '127.0.0.1', port, exclusive: true }, () => server.close(() => resolve(true)));
    });
    server.removeAllListeners('error');
    if (free) return port;
  }
  throw new Error(`No port between ${PORTS.from} and ${PORTS.to} is free.`);
}

export async function contractOf(more: Partial<RouteContract> = {}): Promise<RouteContract> {
  return {
    name: 'web',
    listen: { host: '127.0.0.1', port: await freePort() },
    protocol: 'http',
    names: [],
    tls: null,
    redirect: null,
    proxyProtocol: false,
    idleMs: 3_600_000,
    holdMs: 5_000,
    holdRequests: 1_000,
    holdBytes: 16_777_216,
    ...more,
  };
}

const EVENTUALLY_MS = 10_000;

/** Asks again, one turn after the other, until it holds; fails loudly when it does not come to hold. */
export async function eventually(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const clock = systemClock();
  const begun = clock.monotonicMs();
  while (!(await holds())) {
    if (clock.monotonicMs() - begun > EVENTUALLY_MS) throw new Error(`it did not come to hold: ${what}`);
    await new Promise<void>((resolve) => void systemTimers.after(1, resolve));
  }
}

/** Resolves once no process has this id any more. */
export const gone = (pid: number): Promise<void> =>
  eventually(`process ${pid} is gone`, () => {
    try {
      process.kill(pid, 0);
      return false;
    } catch {
      return true;
    }
  });
