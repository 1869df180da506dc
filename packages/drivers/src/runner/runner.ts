import { type ChildProcess, spawn } from 'node:child_process';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { type Clock, type Outcome, ok, refusal, refused, type Timers } from '@idunn/kernel';
import { type RunnerPort, type RunReport, type RunRequest, stagePaths } from '@idunn/release';
import { stepEnvironment, stepMark } from './environment.ts';
import { endLeftovers } from './leftovers.ts';
import { StepOutput } from './output.ts';

export interface HostRunnerOptions {
  /** The authority's stage directory. */
  readonly stages: string;
  readonly clock: Clock;
  readonly timers: Timers;
}

type Verdict = 'timed-out' | 'too-much-output' | 'withdrawn';

/**
 * Runs steps on this machine as Idunn's own user: by argv, with a clean environment and limits on time and output. It
 * does not confine a hostile build; that is for runners that can.
 */
export function createHostRunner({ stages, clock, timers }: HostRunnerOptions): RunnerPort {
  return {
    endAll: (stage) => endLeftovers(stepMark(stage)),

    async run(request, signal, line) {
      const { step, grant, requestId, stage } = request;
      const [name, ...words] = step.argv;
      // I11: only a name that the binding admits becomes a program.
      const program = Object.hasOwn(grant.allowedPrograms, name) ? grant.allowedPrograms[name] : undefined;
      if (program === undefined) {
        return refused(
          refusal(
            'program-not-admitted',
            `Step ${step.id} starts ${name}, which profile ${step.profile} does not admit.`,
          ),
        );
      }
      const paths = stagePaths(stages, stage);
      const directory = await insideTree(paths.tree, step.cwd);
      if (directory === null) {
        return refused(
          refusal('step-not-started', `Step ${step.id}: ${step.cwd} is not a directory inside the source tree.`),
        );
      }
      if (signal.aborted) return refused(refusal('work-aborted', `Step ${step.id} was withdrawn.`));
      const log = join(paths.logs, `${step.id}.log`);
      const output = await StepOutput.open(log, step.outputLimitBytes, line);
      const startedMs = clock.monotonicMs();
      const child = spawn(program, words, {
        cwd: directory,
        env: stepEnvironment(grant, paths, request),
        argv0: name,
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let verdict: Verdict | null = null;
      const end = (why: Verdict): void => {
        verdict ??= why;
        killGroup(child);
      };
      const withdraw = (): void => end('withdrawn');
      const withdrawTimer = timers.after(step.timeoutMs, () => end('timed-out'));
      signal.addEventListener('abort', withdraw, { once: true });
      try {
        const exit = exitOf(child);
        const over = (): void => end('too-much-output');
        const drained = Promise.all([
          drain(child.stdout, (chunk) => output.add('stdout', chunk), over),
          drain(child.stderr, (chunk) => output.add('stderr', chunk), over),
        ]);
        const { code, by, error } = await exit;
        const durationMs = clock.monotonicMs() - startedMs;
        // Whatever the step left behind ends with it, and with it the last writer of the pipes.
        await endLeftovers(stepMark(stage, requestId));
        await untilQuiet(drained, child, timers);
        const report = { durationMs, outputBytes: output.bytes };
        return judge({ request, report, verdict, code, by, error, log, lastLines: await output.close() });
      } finally {
        withdrawTimer();
        signal.removeEventListener('abort', withdraw);
      }
    },
  };
}

interface Ended {
  readonly code: number | null;
  readonly by: NodeJS.Signals | null;
  readonly error: string | null;
}

function exitOf(child: ChildProcess): Promise<Ended> {
  return new Promise((resolve) => {
    child.once('exit', (code, by) => resolve({ code, by, error: null }));
    child.once('error', ({ message }) => resolve({ code: null, by: null, error: message }));
  });
}

type StepChunk = (chunk: Buffer) => Promise<'within' | 'over'>;

async function drain(from: Readable, add: StepChunk, over: () => void): Promise<void> {
  try {
    for await (const chunk of from as AsyncIterable<Buffer>) if ((await add(chunk)) === 'over') over();
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

interface Finished extends Ended {
  readonly request: RunRequest;
  readonly report: RunReport;
  readonly verdict: Verdict | null;
  readonly log: string;
  readonly lastLines: readonly string[];
}

/** What the end of a step means. Pure. */
export function judge({
  request: { step },
  report,
  verdict,
  code,
  by,
  error,
  log,
  lastLines,
}: Finished): Outcome<RunReport> {
  const detail = { step: step.id, exit: code, signal: by, lastLines, log };
  switch (verdict) {
    case 'withdrawn':
      return refused(refusal('work-aborted', `Step ${step.id} was withdrawn.`, { detail }));
    case 'timed-out':
      return refused(refusal('step-timed-out', `Step ${step.id} did not end within ${step.timeoutMs} ms.`, { detail }));
    case 'too-much-output':
      return refused(
        refusal('step-output-limit', `Step ${step.id} wrote more than ${step.outputLimitBytes} bytes.`, { detail }),
      );
    case null:
      break;
  }
  if (error !== null)
    return refused(refusal('step-not-started', `Step ${step.id} could not be started: ${error}.`, { detail }));
  if (code === 0) return ok(report);
  const how = by === null ? `exit status ${code}` : `signal ${by}`;
  return refused(refusal('step-failed', `Step ${step.id} ended with ${how}.`, { detail }));
}

/** The directory's real path when no link in it leads out of the tree. */
async function insideTree(tree: string, cwd: string): Promise<string | null> {
  try {
    const [root, real] = await Promise.all([realpath(tree), realpath(join(tree, cwd))]);
    return real === root || real.startsWith(`${root}/`) ? real : null;
  } catch {
    return null;
  }
}

/** Only before the leader was reaped does its number surely name its group (F12). */
function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
