import { execFileSync, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBubblewrapRunner, createHostRunner, createRunner } from '@idunn/drivers';
import { type Outcome, randomIds, systemClock, systemTimers } from '@idunn/kernel';
import { type RunnerGrant, type RunnerPort, type RunReport, type Step, stagePaths } from '@idunn/release';

export const BUBBLEWRAP = '/usr/bin/bwrap';
export const PYTHON = '/usr/bin/python3';

/** What nobody but the authority may read; a step that prints it got through. */
export const TOKEN = 'the-authority-alone';

/** What a step did and left. */
export interface Trial {
  readonly outcome: Outcome<RunReport>;
  readonly lines: readonly string[];
  readonly paths: ReturnType<typeof stagePaths>;
}

export type SandboxGrant = Extract<RunnerGrant, { kind: 'bubblewrap' }>;

export interface StepWords {
  readonly script: string;
  readonly step?: Partial<Step>;
  readonly grant?: Partial<SandboxGrant>;
}

/**
 * A machine's things that a hostile step would go for: an authority's directories with its key, another target's stage
 * and release, a process, listeners. All of it is made for the proof and goes with it.
 */
export class Yard {
  readonly root: string;
  readonly stages: string;
  readonly key: string;
  readonly otherStage: string;
  readonly release: string;
  readonly outside: string;
  readonly socket: string;
  /** Listens on loopback, on an abstract name and on a path, and says the token. */
  port = 0;
  /** Answers every datagram with the token. */
  resolver = 0;
  readonly abstract: string;
  /** Of a block of System V shared memory. */
  readonly sharedKey = 0x1d000000 + (process.pid % 0x1000000);
  /** The pid of a process of the machine's. */
  victim = 0;
  readonly #runner: RunnerPort;
  readonly #closing: (() => void)[] = [];
  #stages = 0;

  private constructor(root: string) {
    this.root = root;
    this.stages = join(root, 'cache/stages');
    this.key = join(root, 'state/keys/authority.key');
    this.otherStage = join(this.stages, `other-${'f'.repeat(64)}`, 'tree/source');
    this.release = join(root, 'releases', 'e'.repeat(64), 'server.js');
    this.outside = join(root, 'outside');
    this.socket = join(root, 'runtime/operator.sock');
    this.abstract = `idunn-proof-${process.pid}`;
    const surroundings = { stages: this.stages, clock: systemClock(), timers: systemTimers };
    const uid = process.getuid?.() ?? 0;
    const hidden = (): string[] => [root];
    this.#runner = createRunner(
      createHostRunner(surroundings),
      createBubblewrapRunner({ ...surroundings, fleet: 'hostile-repo', bubblewrap: BUBBLEWRAP, uid, hidden }),
    );
  }

  static async open(): Promise<Yard> {
    const yard = new Yard(await mkdtemp(join(tmpdir(), 'idunn-yard-')));
    for (const file of [yard.key, yard.otherStage, yard.release, join(yard.outside, 'kept')]) {
      await mkdir(join(file, '..'), { recursive: true });
      await writeFile(file, TOKEN);
    }
    await mkdir(join(yard.root, 'runtime'));
    yard.port = await yard.#listen({ host: '127.0.0.1', port: 0 });
    yard.resolver = await yard.#resolve();
    await yard.#listen({ path: `\0${yard.abstract}` });
    await yard.#listen({ path: yard.socket });
    await yard.#keepVictim();
    return yard;
  }

  async close(): Promise<void> {
    for (const close of this.#closing) close();
    await rm(this.root, { recursive: true, force: true });
  }

  /** Runs a script of Python as a step, in the sandbox. */
  confined({ script, step, grant }: StepWords): Promise<Trial> {
    return this.#run(script, step, { ...CONFINED, ...grant });
  }

  /** The same step with nothing around it, as the positive control. */
  bare({ script, step }: StepWords): Promise<Trial> {
    return this.#run(script, step, BARE);
  }

  async #run(script: string, more: Partial<Step> = {}, grant: RunnerGrant): Promise<Trial> {
    const stage = `app-${String(++this.#stages).padStart(64, '0')}`;
    const paths = stagePaths(this.stages, stage);
    for (const path of [paths.tree, paths.inputs, paths.home, paths.temporary, paths.logs])
      await mkdir(path, { recursive: true, mode: 0o700 });
    await writeFile(join(paths.inputs, 'pinned'), 'pinned', { mode: 0o444 });
    const lines: string[] = [];
    const step: Step = {
      id: 'hostile',
      stage: 'build',
      profile: 'build',
      argv: ['python3', '-c', `${PRELUDE}\n${script}`],
      cwd: '.',
      timeoutMs: 30_000,
      outputLimitBytes: 1_000_000,
      ...more,
    };
    const request = { requestId: randomIds.fresh('step'), stage, step, grant };
    const outcome = await this.#runner.run(request, new AbortController().signal, (line) => lines.push(line));
    return { outcome, lines, paths };
  }

  async #keepVictim(): Promise<void> {
    const script = `import ctypes, time
ctypes.CDLL(None).shmget(${this.sharedKey}, 64, 0o1666); print(1, flush=True); time.sleep(3600)`;
    const victim = spawn(PYTHON, ['-c', script], {
      env: { VICTIM: TOKEN },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await once(victim.stdout, 'data');
    this.victim = victim.pid ?? 0;
    this.#closing.push(() => {
      victim.kill('SIGKILL');
      execFileSync('ipcrm', ['--shmem-key', String(this.sharedKey)]);
    });
  }

  async #resolve(): Promise<number> {
    const socket = createSocket('udp4', (_, { address, port }) => socket.send(TOKEN, port, address));
    socket.bind({ address: '127.0.0.1', port: 0 });
    await once(socket, 'listening');
    this.#closing.push(() => socket.close());
    return socket.address().port;
  }

  async #listen(where: { host: string; port: number } | { path: string }): Promise<number> {
    const server = createServer((socket) => socket.on('error', () => socket.destroy()).end(TOKEN));
    server.listen(where);
    await once(server, 'listening');
    this.#closing.push(() => server.close());
    const address = server.address();
    return address !== null && typeof address === 'object' ? address.port : 0;
  }
}

const COMMON = { allowedPrograms: { python3: PYTHON }, environment: { PATH: '/usr/bin:/bin' }, lockfile: null };
const BARE: RunnerGrant = { kind: 'host-native', ...COMMON };
export const NO_LIMITS = { memoryBytes: null, processes: null, cpuMillis: null };
const CONFINED: SandboxGrant = { kind: 'bubblewrap', ...COMMON, mounts: [], limits: NO_LIMITS, network: null };

/** What the scripts share; `call` is a raw system call that raises what the kernel says. */
const PRELUDE = `
import ctypes, os, socket, struct, sys, time
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *words):
    answer = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(w) if isinstance(w, int) else w for w in words])
    if answer < 0: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return answer
`;
