import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import type { RehearsalRequest } from '@idunn/authority';
import type { Outcome } from '@idunn/kernel';
import type { HealthContract, LaunchContract, Probe, StateContract } from '@idunn/release';
import { freePort } from '../../../router/testing/rig.ts';
import type { ProcessDriverOptions } from '../../options.ts';
import { processIds, readEnvironment } from '../../proc.ts';
import { Bench, RELEASE } from '../../testing/bench.ts';

const PROGRAMS = {
  /** A service as any other: a count in SQLite, raised at its start, served over HTTP. */
  service: `import { DatabaseSync } from 'node:sqlite';
    import { createServer } from 'node:http';
    const [port, file] = process.argv.slice(2);
    const database = new DatabaseSync(file);
    database.exec('CREATE TABLE IF NOT EXISTS starts (n INTEGER); INSERT INTO starts VALUES (1)');
    const { n } = database.prepare('SELECT count(*) AS n FROM starts').get();
    createServer((request, answer) => {
      if (request.url === '/moved') answer.writeHead(301, { location: '/' }).end('over there');
      else if (request.url === '/bad') answer.writeHead(503).end('not today: ' + n);
      else answer.end('starts ' + n);
    }).listen(Number(port), '127.0.0.1');`,
  /** Says its secret, and ends. */
  failing: `import { readFileSync } from 'node:fs';
    console.log('first line');
    console.log('token=' + readFileSync(process.env.IDUNN_ACTIVATION_DIRECTORY + '/secrets/token', 'utf8'));
    console.error('Error: cannot find module'); process.exitCode = 3;`,
  silent: 'setInterval(() => {}, 1e6);',
  /** Leaves a child in a session of its own, and is healthy. */
  leaving: `import { spawn } from 'node:child_process';
    import { createServer } from 'node:http';
    spawn('/bin/sleep', ['1000'], { stdio: 'ignore', detached: true }).unref();
    createServer((request, answer) => answer.end('fine')).listen(Number(process.argv[2]), '127.0.0.1');`,
  /** Answers with what it could reach of the machine. */
  reaching: `import { connect } from 'node:net';
    import { writeFileSync } from 'node:fs';
    import { createServer } from 'node:http';
    const [port, elsewhere, outside] = process.argv.slice(2);
    let reached = 'nothing';
    try { writeFileSync(outside, 'x'); reached = 'a file'; } catch {}
    const socket = connect(Number(elsewhere), '127.0.0.1');
    socket.on('connect', () => { reached = 'the network'; });
    socket.on('error', () => {});
    const server = createServer((request, answer) => answer.end(reached));
    socket.on('close', () => server.listen(Number(port), '127.0.0.1'));`,
} as const;

export const attended = (probe: Probe): HealthContract => ({
  kind: 'attended',
  path: null,
  freshnessMs: 9_000,
  probe,
  intervalMs: 50,
  timeoutMs: 1_000,
  successes: 2,
  failures: 3,
});

export const http = (path: string, body: string | null = null): HealthContract =>
  attended({ kind: 'http', method: 'GET', path, statuses: [200], body });

/** A bench with a state, and a real rehearser. */
export class RehearsalBench extends Bench {
  readonly state: StateContract;
  readonly copies: string;

  constructor(t: TestContext, more: Partial<ProcessDriverOptions> = {}) {
    const rehearser = new URL('../../../../../attendant/src/rehearser.ts', import.meta.url).pathname;
    super(t, (root) => ({
      rehearsal: { directory: join(root, 'copies'), rehearser: [process.execPath, '--conditions=source', rehearser] },
      ...more,
    }));
    this.copies = join(this.root, 'copies');
    const root = join(this.root, 'state');
    for (const [name, text] of Object.entries(PROGRAMS)) writeFileSync(this.file(`${name}.mjs`), text);
    this.state = {
      stateId: 'game',
      schema: 'v1',
      accepts: ['v1'],
      root,
      stores: [{ id: 'db', kind: 'sqlite', path: 'app.db' }],
      lease: 'file',
      fence: 'tree-empty',
    };
    mkdirSync(root, { recursive: true });
  }

  /** A launch of one of the programs above: its port and its database come first. */
  async program(name: keyof typeof PROGRAMS, more: Partial<LaunchContract> = {}): Promise<LaunchContract> {
    const port = await freePort();
    return this.launch('polite', {
      program: {
        kind: 'interpreter',
        origin: 'host',
        path: process.execPath,
        digest: RELEASE,
        entry: { artifact: 'app', path: `${name}.mjs` },
      },
      args: [{ slot: 'endpoint-port' }, { slot: 'state-path:db' }],
      endpoint: { protocol: 'http', host: '127.0.0.1', fromPort: port, toPort: port },
      ...more,
    });
  }

  request(launch: LaunchContract, health: HealthContract, more: Partial<RehearsalRequest> = {}): RehearsalRequest {
    return {
      requestId: 'rehearsal',
      target: 'game',
      release: RELEASE,
      launch,
      state: this.state,
      health,
      rehearsal: { timeoutMs: 20_000, copyLimitBytes: 1e9 },
      ...more,
    };
  }

  rehearse(
    launch: LaunchContract,
    health: HealthContract,
    more: Partial<RehearsalRequest> = {},
  ): Promise<Outcome<'passed'>> {
    return this.driver.rehearse(this.request(launch, health, more), new AbortController().signal);
  }

  /** Starts in the living state. */
  starts(): number {
    const database = new DatabaseSync(join(this.state.root, 'app.db'));
    const n = database.prepare('SELECT count(*) AS n FROM starts').get()?.['n'];
    database.close();
    return Number(n);
  }

  /** Everything that rehearsals of this bench have left: names on disk, and processes. */
  async leftovers(): Promise<readonly string[]> {
    const under = (directory: string): readonly string[] =>
      existsSync(directory) ? readdirSync(directory).map((name) => join(directory, name)) : [];
    const disk = [this.copies, join(this.options.roots.runtime, 'a'), this.options.roots.logs].flatMap(under);
    const processes: string[] = [];
    for (const pid of processIds()) {
      const directory = await readEnvironment(pid, 'IDUNN_ACTIVATION_DIRECTORY');
      if (directory !== 'unreadable' && directory.value?.startsWith(this.root)) processes.push(`process ${pid}`);
    }
    return [...disk, ...processes];
  }
}
