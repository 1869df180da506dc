import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { type Outcome, ok, type Refusal, refusal, refused, type Timers } from '@idunn/kernel';

export interface RouterLaunch {
  /** The program by argv, without the router's own options. */
  readonly program: readonly [string, ...string[]];
  readonly fleet: string;
  readonly controlSocket: string;
  readonly stateFile: string;
  readonly logFile: string;
  /** Digest of the installed bytes. */
  readonly build: string;
}

const START_MS = 15_000;
const STDERR_TAIL_CHARACTERS = 2_000;

/**
 * Starts the router as a session of its own, which outlives its starter, and answers once it serves. Its environment is
 * empty. A router that runs already answers `router-already-running`.
 */
export async function startRouter(launch: RouterLaunch, timers: Timers): Promise<Outcome<'serving'>> {
  const stderrFile = `${launch.logFile}.stderr`;
  let child: ChildProcess;
  try {
    for (const path of [launch.controlSocket, launch.stateFile, launch.logFile]) {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    }
    const stderr = openSync(stderrFile, 'w', 0o600);
    const [file, ...args] = launch.program;
    child = spawn(file, [...args, ...argvOf(launch)], {
      detached: true,
      cwd: '/',
      env: {},
      stdio: ['ignore', 'ignore', stderr, 'pipe'],
    });
    closeSync(stderr);
  } catch (error) {
    return failed(String(error), null);
  }
  const line = await firstLine(child, timers);
  child.unref();
  switch (line.kind) {
    case 'line': {
      const message = JSON.parse(line.text) as { readonly refused?: Refusal };
      return message.refused === undefined ? ok('serving') : refused(message.refused);
    }
    case 'ended':
      return failed(line.because, tail(stderrFile));
    case 'late':
      child.kill('SIGKILL');
      return failed(`it did not serve within ${START_MS} ms`, tail(stderrFile));
  }
}

const argvOf = (launch: RouterLaunch): readonly string[] => [
  '--fleet',
  launch.fleet,
  '--control',
  launch.controlSocket,
  '--state',
  launch.stateFile,
  '--log',
  launch.logFile,
  '--build',
  launch.build,
  '--notify',
];

type FirstLine =
  | { readonly kind: 'line'; readonly text: string }
  | { readonly kind: 'ended'; readonly because: string }
  | { readonly kind: 'late' };

/** What the router says on its ready pipe, or the pipe's end. */
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

function failed(because: string, stderr: string | null): Outcome<never> {
  const detail = stderr === null || stderr === '' ? {} : { detail: { stderr } };
  return refused(refusal('router-start-failed', `The router could not be started: ${because}.`, detail));
}

function tail(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').slice(-STDERR_TAIL_CHARACTERS);
  } catch {
    return null;
  }
}
