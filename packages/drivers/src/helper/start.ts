import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { type Code, type Outcome, ok, type Refusal, refusal, refused, type Timers } from '@idunn/kernel';

/** A program of Idunn that runs beside the daemon and outlives it. */
export interface HelperLaunch {
  /** For people: `router`. */
  readonly name: string;
  /** Program and options. It says one line on descriptor 3: `{"ready":…}` or `{"refused":…}`. */
  readonly argv: readonly [string, ...string[]];
  /** Files that it makes; their directories are made for it. */
  readonly files: readonly string[];
  readonly logFile: string;
  readonly failed: Code;
  /** Given the child, which has a channel to its starter then, while it comes up. */
  readonly speak?: (child: ChildProcess) => void;
}

const START_MS = 15_000;
const STDERR_TAIL_CHARACTERS = 2_000;

/**
 * Starts a helper as a session of its own, which outlives its starter, and answers once it serves. Its environment is
 * empty.
 */
export async function startHelper(launch: HelperLaunch, timers: Timers): Promise<Outcome<'serving'>> {
  const stderrFile = `${launch.logFile}.stderr`;
  let child: ChildProcess;
  try {
    for (const path of [...launch.files, launch.logFile]) mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const stderr = openSync(stderrFile, 'w', 0o600);
    const [file, ...args] = launch.argv;
    const channel = launch.speak === undefined ? [] : (['ipc'] as const);
    const stdio: StdioOptions = ['ignore', 'ignore', stderr, 'pipe', ...channel];
    child = spawn(file, args, { detached: true, cwd: '/', env: {}, stdio });
    closeSync(stderr);
  } catch (error) {
    return failed(launch, String(error), null);
  }
  launch.speak?.(child);
  const line = await firstLine(child, timers);
  child.unref();
  switch (line.kind) {
    case 'line': {
      const message = JSON.parse(line.text) as { readonly refused?: Refusal };
      return message.refused === undefined ? ok('serving') : refused(message.refused);
    }
    case 'ended':
      return failed(launch, line.because, tail(stderrFile));
    case 'late':
      child.kill('SIGKILL');
      return failed(launch, `it did not serve within ${START_MS} ms`, tail(stderrFile));
  }
}

type FirstLine =
  | { readonly kind: 'line'; readonly text: string }
  | { readonly kind: 'ended'; readonly because: string }
  | { readonly kind: 'late' };

/** What the helper says on its ready pipe, or the pipe's end. */
function firstLine(child: ChildProcess, timers: Timers): Promise<FirstLine> {
  return new Promise((resolve) => {
    const pipe = child.stdio[3] as Readable;
    let text = '';
    const withdraw = timers.after(START_MS, () => settle({ kind: 'late' }));
    const settle = (line: FirstLine): void => {
      withdraw();
      pipe.destroy();
      resolve(line);
    };
    child.on('error', (error) => settle({ kind: 'ended', because: error.message }));
    pipe.setEncoding('utf8');
    pipe.on('data', (chunk: string) => {
      text += chunk;
      const end = text.indexOf('\n');
      if (end !== -1) settle({ kind: 'line', text: text.slice(0, end) });
    });
    pipe.on('end', () => settle({ kind: 'ended', because: 'it ended before it served' }));
  });
}

function failed(launch: HelperLaunch, because: string, stderr: string | null): Outcome<never> {
  const detail = stderr === null || stderr === '' ? {} : { detail: { stderr } };
  return refused(refusal(launch.failed, `The ${launch.name} could not be started: ${because}.`, detail));
}

function tail(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').slice(-STDERR_TAIL_CHARACTERS);
  } catch {
    return null;
  }
}
