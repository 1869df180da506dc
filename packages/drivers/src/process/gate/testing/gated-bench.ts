import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { LaunchRequest, WorkloadHandle } from '@idunn/authority';
import type { LaunchContract, StateContract } from '@idunn/release';
import { reach } from '../../../channel/reach.ts';
import { createSqliteLease } from '../../../sqlite-lease/driver.ts';
import { leaseFileOf } from '../../../sqlite-lease/lease-carriers.ts';
import { activationFiles } from '../../activation-directory.ts';
import { ownStandpoint } from '../../identity.ts';
import type { ProcessDriverOptions } from '../../options.ts';
import { Bench, must } from '../../testing/bench.ts';

/** A bench with a state of one directory, whose lease row lies in a file. */
export class GatedBench extends Bench {
  readonly lease = createSqliteLease();
  readonly state: StateContract;

  constructor(t: TestContext, more: Partial<ProcessDriverOptions> = {}) {
    super(t, more);
    t.after(() => this.lease.close());
    this.state = {
      stateId: 'game',
      schema: 'v1',
      accepts: ['v1'],
      root: join(this.root, 'state'),
      stores: [{ id: 'data', kind: 'files', path: 'data' }],
      lease: 'file',
      fence: 'tree-empty',
    };
  }

  async startGated(launch: LaunchContract): Promise<WorkloadHandle> {
    const handle = must(await this.driver.start(await this.#gatedRequest(launch)));
    this.handles.push(handle);
    return handle;
  }

  /** The same by a daemon of its own process, which is killed as soon as it has answered. */
  async startGatedAndDie(launch: LaunchContract): Promise<WorkloadHandle> {
    const request = await this.#gatedRequest(launch);
    const script = new URL('../../testing/first-daemon.ts', import.meta.url).pathname;
    const daemon = spawn(process.execPath, ['--conditions=source', script], { stdio: ['pipe', 'pipe', 'inherit'] });
    const seed = this.authorityKey.privateKey.export({ format: 'pem', type: 'pkcs8' });
    daemon.stdin.end(JSON.stringify({ roots: this.options.roots, root: this.root, seed, request }));
    const [line] = (await once(daemon.stdout, 'data')) as [Buffer];
    daemon.kill('SIGKILL');
    await once(daemon, 'exit');
    const handle = JSON.parse(line.toString()) as WorkloadHandle;
    this.handles.push(handle);
    return handle;
  }

  /** Moves the lease row to the activation at an epoch. */
  async grant({ activation }: WorkloadHandle, epoch: number): Promise<void> {
    const rows = must(await this.lease.prepare(this.state));
    const from = Object.values(rows)[0];
    if (from === undefined) throw new Error('a lease has a row');
    const to = { epoch, activation, release: null, stateSchema: 'v1' };
    const { kind } = await this.lease.swap(this.state, { from, to, deadlineMs: 10_000 });
    if (kind !== 'swapped') throw new Error(`the row did not move: ${kind}`);
  }

  /** Puts something in the lease file's place that is no database; the answer puts it back. */
  spoilLease(): () => void {
    const file = leaseFileOf(this.state);
    const parts = ['', '-wal', '-shm'];
    for (const part of parts) renameSync(`${file}${part}`, `${file}${part}.whole`);
    writeFileSync(file, 'no database at all, and long enough to be looked at'.repeat(100));
    return () => {
      for (const part of parts) renameSync(`${file}${part}.whole`, `${file}${part}`);
    };
  }

  /** Does what a daemon does that is killed between its grant and the answer. */
  async sendGrantAndDie({ activation, identity }: WorkloadHandle, epoch: number): Promise<void> {
    const { gate } = activationFiles(this.options.roots.runtime, activation);
    const { timers, clock } = this.options;
    const from = ownStandpoint(clock.bootId);
    const socket = must(await reach({ identity, path: gate, from, timers, abandoned: () => false }, 10_000));
    await new Promise<void>((resolve) => {
      socket.write(`${JSON.stringify({ activation, epoch })}\n`, () => resolve());
    });
    socket.destroy();
  }

  async #gatedRequest(launch: LaunchContract): Promise<LaunchRequest> {
    must(await this.lease.prepare(this.state));
    const activation = await this.mint(launch, this.state);
    return { ...this.launchRequest(activation, launch, this.state), start: 'gated' };
  }
}
