import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Outcome, randomIds, systemClock, systemTimers } from '@idunn/kernel';
import { type BubblewrapGrant, type RunReport, type Step, stagePaths } from '@idunn/release';
import { temporary } from '../../git/testing/repository.ts';
import { type BubblewrapRunnerOptions, createBubblewrapRunner } from '../runner.ts';

export const BWRAP = '/usr/bin/bwrap';
export const STAGE = `app-${'0'.repeat(64)}`;

export interface SandboxBench {
  readonly stages: string;
  readonly options: BubblewrapRunnerOptions;
  readonly paths: ReturnType<typeof stagePaths>;
  readonly runner: ReturnType<typeof createBubblewrapRunner>;
  readonly lines: string[];
  /** Runs a script of Python in the sandbox. */
  readonly run: (
    script: string,
    more?: Partial<Step>,
    grant?: Partial<BubblewrapGrant>,
    signal?: AbortSignal,
  ) => Promise<Outcome<RunReport>>;
}

const NO_LIMITS = { memoryBytes: null, processes: null, cpuMillis: null };

export const grantOf = (more: Partial<BubblewrapGrant> = {}): BubblewrapGrant => ({
  kind: 'bubblewrap',
  allowedPrograms: { python3: '/usr/bin/python3', node: process.execPath, sh: '/usr/bin/sh' },
  environment: { PATH: '/usr/bin:/bin' },
  lockfile: null,
  mounts: [],
  limits: NO_LIMITS,
  network: null,
  ...more,
});

/** A stage on disk and the runner over it, as the user that runs the test. */
export async function sandboxBench(
  context: { after(work: () => Promise<void>): void },
  options: { hidden?: readonly string[]; bubblewrap?: string | null } = {},
): Promise<SandboxBench> {
  const stages = await temporary(context);
  const paths = stagePaths(stages, STAGE);
  for (const path of [paths.tree, paths.inputs, paths.home, paths.temporary, paths.logs])
    await mkdir(path, { recursive: true, mode: 0o700 });
  await writeFile(join(paths.inputs, 'pinned'), 'pinned', { mode: 0o444 });
  const made: BubblewrapRunnerOptions = {
    fleet: 'bench',
    stages,
    bubblewrap: options.bubblewrap === undefined ? BWRAP : options.bubblewrap,
    uid: process.getuid?.() ?? 0,
    hidden: () => [stages, ...(options.hidden ?? [])],
    clock: systemClock(),
    timers: systemTimers,
  };
  const runner = createBubblewrapRunner(made);
  const lines: string[] = [];
  return {
    stages,
    options: made,
    paths,
    runner,
    lines,
    run(script, more = {}, grant = {}, signal = new AbortController().signal) {
      const step: Step = {
        id: 'compile',
        stage: 'build',
        profile: 'build',
        argv: ['python3', '-c', script],
        cwd: '.',
        timeoutMs: 60_000,
        outputLimitBytes: 1_000_000,
        ...more,
      };
      const request = { requestId: randomIds.fresh('step'), stage: STAGE, step, grant: grantOf(grant) };
      return runner.run(request, signal, (text) => lines.push(text));
    },
  };
}
