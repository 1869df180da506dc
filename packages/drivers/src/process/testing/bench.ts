import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { LaunchRequest, MintRequest, WorkloadEvent, WorkloadHandle } from '@idunn/authority';
import {
  type Digest,
  digestBytes,
  freshSeed,
  type Outcome,
  ok,
  randomIds,
  signingKeyFromSeed,
  systemClock,
  systemTimers,
} from '@idunn/kernel';
import type { Activation, Expected } from '@idunn/readiness';
import type { LaunchContract, StateContract } from '@idunn/release';
import { createProcessDriver, type ProcessDriver } from '../driver.ts';
import type { ProcessDriverOptions } from '../options.ts';

export const RELEASE: Digest = digestBytes('a release');
const INCARNATION = `game@${digestBytes('expected')}` as const;

/** Programs for tests, each a packaged entry run by this Node. */
export const PROGRAMS = {
  /** Says `up`, then lives until it is told to end. */
  polite: `console.log('up ' + process.argv.slice(2).join(' ')); setInterval(() => {}, 1e6);`,
  /** Ignores SIGTERM, as does its child. */
  stubborn: `import { spawn } from 'node:child_process';
    process.on('SIGTERM', () => {});
    if (process.argv[2] !== 'child') {
      const stdio = ['ignore', 'pipe', 'inherit'];
      const child = spawn(process.execPath, [process.argv[1], 'child'], { stdio, detached: true });
      child.stdout.once('data', () => console.log('up ' + child.pid));
    } else process.stdout.write('ready');
    setInterval(() => {}, 1e6);`,
  /** Ends at once and leaves a child in a session of its own. */
  abandoning: `import { spawn } from 'node:child_process';
    const child = spawn('/bin/sleep', ['1000'], { stdio: 'ignore', detached: true });
    child.unref();
    console.log('up ' + child.pid);`,
  chatty: `const write = () => { for (let i = 0; i < 200; i++) console.log(i + 'y'.repeat(99)); };
    write();
    setInterval(write, 5);`,
  leaky: `import { readFileSync } from 'node:fs';
    console.log('token=' + readFileSync(process.env.IDUNN_ACTIVATION_DIRECTORY + '/secrets/token', 'utf8'));
    console.log('env ' + JSON.stringify(process.env)); setInterval(() => {}, 1e6);`,
  dying: `console.error('cannot go on'); process.exit(3);`,
} as const;

type More = Partial<ProcessDriverOptions> | ((root: string) => Partial<ProcessDriverOptions>);

/** A fleet of one target in a directory of its own, with real processes. */
export class Bench {
  readonly root: string;
  readonly options: ProcessDriverOptions;
  readonly driver: ProcessDriver;
  readonly events: WorkloadEvent[] = [];
  readonly authorityKey = signingKeyFromSeed(freshSeed());
  readonly signerKey = signingKeyFromSeed(freshSeed());
  /** Ended with the test. */
  protected readonly handles: WorkloadHandle[] = [];

  constructor(t: TestContext, more: More = {}) {
    t.after(() => this.#close());
    this.root = mkdtempSync(join(tmpdir(), 'idunn-p-'));
    mkdirSync(join(this.root, 'release', 'app'), { recursive: true });
    mkdirSync(join(this.root, 'state'));
    for (const [name, text] of Object.entries(PROGRAMS)) writeFileSync(this.file(`${name}.mjs`), text);
    // Leaves descriptor 3 to a child that outlives it, as a program that knows nothing of it does.
    writeFileSync(this.file('leaving'), '#!/bin/sh\nsleep 1000 &\n', { mode: 0o755 });
    copyFileSync('/bin/sleep', this.file('sleep'));
    chmodSync(this.file('sleep'), 0o755);
    writeFileSync(join(this.root, 'token'), 'hunter2-and-more\n', { mode: 0o600 });
    this.options = {
      fleet: 'bench',
      machine: 'local',
      roots: { runtime: join(this.root, 'r'), logs: join(this.root, 'l') },
      authorityKey: this.authorityKey,
      signerKeyFor: () => Promise.resolve(ok(this.signerKey)),
      observerEndpoint: () => ({ socket: '/run/observer.sock', keyId: 'ed25519:0', publicKey: '' }),
      artifactFile: (_release, artifact, path) => join(this.root, 'release', artifact, path),
      clock: systemClock(),
      timers: systemTimers,
      ...(typeof more === 'function' ? more(this.root) : more),
    };
    this.driver = createProcessDriver(this.options);
    this.driver.subscribe((event) => this.events.push(event));
  }

  file(name: string): string {
    return join(this.root, 'release', 'app', name);
  }

  launch(program: keyof typeof PROGRAMS | 'embedding', more: Partial<LaunchContract> = {}): LaunchContract {
    return {
      program: {
        kind: 'interpreter',
        origin: 'host',
        path: process.execPath,
        digest: digestBytes('node'),
        entry: { artifact: 'app', path: `${program}.mjs` },
      },
      args: [],
      environment: {},
      secrets: [],
      endpoint: null,
      limits: { memoryBytes: null, processes: null, openFiles: null, logBytes: 1_000_000, logFiles: 3 },
      singleProcess: false,
      ...more,
    };
  }

  /** A packaged executable of a few kilobytes: starts in a millisecond and dies by SIGTERM. */
  sleep(more: Partial<LaunchContract> = {}): LaunchContract {
    return this.launch('polite', {
      program: { kind: 'artifact', artifact: 'app', path: 'sleep' },
      args: [{ literal: '1000' }],
      ...more,
    });
  }

  mintRequest(launch: LaunchContract, more: Partial<MintRequest> = {}): MintRequest {
    return {
      requestId: randomIds.fresh('rq'),
      activation: randomIds.fresh('act'),
      incarnation: INCARNATION,
      expected: expected(),
      launch,
      state: null,
      health: { kind: 'idunn', path: null, freshnessMs: 9_000 },
      start: 'embedded',
      takenPorts: [],
      ...more,
    };
  }

  async mint(launch: LaunchContract, state: StateContract | null = null): Promise<Activation> {
    return must(await this.driver.mint(this.mintRequest(launch, { state })));
  }

  launchRequest(activation: Activation, launch: LaunchContract, state: StateContract | null = null): LaunchRequest {
    return {
      requestId: randomIds.fresh('rq'),
      target: 'game',
      activation,
      release: RELEASE,
      launch,
      state,
      start: 'embedded',
    };
  }

  async start(launch: LaunchContract, state: StateContract | null = null): Promise<WorkloadHandle> {
    const activation = await this.mint(launch, state);
    const handle = must(await this.driver.start(this.launchRequest(activation, launch, state)));
    this.handles.push(handle);
    return handle;
  }

  /** Resolves with the event of this activation's death. */
  death(activation: string): Promise<WorkloadEvent> {
    const earlier = this.events.find((event) => event.activation === activation);
    if (earlier !== undefined) return Promise.resolve(earlier);
    return new Promise((resolve) => {
      this.driver.subscribe((event) => {
        if (event.activation === activation) resolve(event);
      });
    });
  }

  async #close(): Promise<void> {
    for (const handle of this.handles) await this.driver.stop(handle, 0);
    this.driver.close();
    rmSync(this.root, { recursive: true });
  }
}

export function must<T>(outcome: Outcome<T>): T {
  if (!outcome.ok) throw new Error(`${outcome.refusal.code}: ${outcome.refusal.reason}`);
  return outcome.value;
}

export const codeOf = (outcome: Outcome<unknown>): string => (outcome.ok ? 'ok' : outcome.refusal.code);

function expected(): Expected {
  return {
    schema: 'idunn.expected/v1',
    fleet: 'bench',
    machine: 'local',
    target: 'game',
    plan: RELEASE,
    release: RELEASE,
    build: RELEASE,
    revision: '0'.repeat(40),
    runtime: { driver: 'process', executable: RELEASE, entry: null },
    signer: 'ed25519:0',
    health: { kind: 'idunn', freshnessMs: 9_000 },
    state: null,
    endpoint: null,
    capabilities: [],
  };
}
