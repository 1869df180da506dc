import type { ChildProcess } from 'node:child_process';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { type Clock, type Outcome, refusal, refused, type Timers } from '@idunn/kernel';
import { type RunnerGrant, type RunReport, type RunRequest, stagePaths } from '@idunn/release';
import type { Confinement } from './confinement.ts';
import { type Ended, judge, type Verdict } from './judge.ts';
import { StepOutput } from './output.ts';

export interface StepSurroundings {
  /** The authority's stage directory. */
  readonly stages: string;
  readonly clock: Clock;
  readonly timers: Timers;
}

/** Runs one step by its confinement, within its limits of time and output. */
export async function runStep<Grant extends RunnerGrant>(
  { stages, clock, timers }: StepSurroundings,
  confinement: Confinement<Grant>,
  request: RunRequest & { readonly grant: Grant },
  signal: AbortSignal,
  line: (text: string) => void,
): Promise<Outcome<RunReport>> {
  const { step, grant } = request;
  const [name] = step.argv;
  // I11: only a name that the binding admits becomes a program.
  const program = Object.hasOwn(grant.allowedPrograms, name) ? grant.allowedPrograms[name] : undefined;
  if (program === undefined) {
    const reason = `Step ${step.id} starts ${name}, which profile ${step.profile} does not admit.`;
    return refused(refusal('program-not-admitted', reason));
  }
  const paths = stagePaths(stages, request.stage);
  const inside = await insideTree(paths.tree, step.cwd);
  if (inside === null) {
    const reason = `Step ${step.id}: ${step.cwd} is not a directory inside the source tree.`;
    return refused(refusal('step-not-started', reason));
  }
  if (signal.aborted) return refused(refusal('work-aborted', `Step ${step.id} was withdrawn.`));
  const log = join(paths.logs, `${step.id}.log`);
  const output = await StepOutput.open(log, step.outputLimitBytes, line);
  const startedMs = clock.monotonicMs();
  const started = await confinement.start({ request, grant, paths, program, ...inside, line });
  if (!started.ok) {
    await output.close();
    return started;
  }
  const { child } = started.value;
  let verdict: Verdict | null = null;
  const end = (why: Verdict): void => {
    verdict ??= why;
    started.value.kill();
  };
  const withdraw = (): void => end('withdrawn');
  const withdrawTimer = timers.after(step.timeoutMs, () => end('timed-out'));
  signal.addEventListener('abort', withdraw, { once: true });
  if (signal.aborted) withdraw();
  try {
    const exit = exitOf(child);
    const over = (): void => end('too-much-output');
    const drained = Promise.all([
      drain(child.stdout, (chunk) => output.add('stdout', chunk), over),
      drain(child.stderr, (chunk) => output.add('stderr', chunk), over),
    ]);
    const exited = await exit;
    const durationMs = clock.monotonicMs() - startedMs;
    // Whatever the step left behind ends with it, and with it the last writer of the pipes.
    const { contacted, note, stuck, ended } = await started.value.cleared();
    await untilQuiet(drained, child, timers);
    const lastLines = await output.close();
    const report = { durationMs, outputBytes: output.bytes, contacted };
    return judge({ step, report, verdict, ...ended(exited), stuck, note, log, lastLines });
  } finally {
    withdrawTimer();
    signal.removeEventListener('abort', withdraw);
  }
}

function exitOf(child: ChildProcess): Promise<Ended> {
  return new Promise((resolve) => {
    child.once('exit', (code, by) => resolve({ code, by, error: null }));
    child.once('error', ({ message }) => resolve({ code: null, by: null, error: message }));
  });
}

type StepChunk = (chunk: Buffer) => Promise<'within' | 'over'>;

async function drain(from: Readable | null, add: StepChunk, over: () => void): Promise<void> {
  try {
    for await (const chunk of (from ?? []) as AsyncIterable<Buffer>) if ((await add(chunk)) === 'over') over();
  } catch (error) {
    // The pipe was destroyed because somebody outside the step held it open.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
}

const QUIET_MS = 2_000;

/**
 * A process that hid from the step's mark may hold the pipes for ever; its output is not waited for longer than this.
 */
async function untilQuiet(drained: Promise<unknown>, child: ChildProcess, timers: Timers): Promise<void> {
  const cancel = timers.after(QUIET_MS, () => {
    child.stdout?.destroy();
    child.stderr?.destroy();
  });
  await drained.finally(cancel);
}

/** The tree's and the directory's real paths, when no link in them leads out of the tree. */
async function insideTree(tree: string, cwd: string): Promise<{ tree: string; directory: string } | null> {
  try {
    const [root, real] = await Promise.all([realpath(tree), realpath(join(tree, cwd))]);
    return real === root || real.startsWith(`${root}/`) ? { tree: root, directory: real } : null;
  } catch {
    return null;
  }
}
