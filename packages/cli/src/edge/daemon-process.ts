import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { type Answer, answered, declined, type Problem } from '@idunn/client';

/** Without it V8 lets young objects of each thread take 48 MB before it looks for garbage. */
const YOUNG_SPACE = '--max-semi-space-size=2';

/** The daemon is a program of its own, found through its package; the command never imports it. */
const daemonArgs = (fleet: string): string[] => [
  YOUNG_SPACE,
  ...process.execArgv,
  fileURLToPath(import.meta.resolve('@idunn/daemon/main')),
  '--fleet',
  fleet,
];

/** Runs the daemon in this terminal; signals reach it through the process group. Answers its exit code. */
export function startForeground(fleet: string): Promise<number> {
  const child = spawn(process.execPath, daemonArgs(fleet), { stdio: 'inherit' });
  const forward = (signal: NodeJS.Signals): void => void child.kill(signal);
  process.on('SIGTERM', forward);
  // Ctrl-C reaches the daemon by itself; we only must not end before it.
  process.on('SIGINT', () => undefined);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });
}

const SHOWN_LINES = 20;

/**
 * Starts the daemon in the background; answers when it serves, with its refusal, or with the last lines of its
 * output.
 */
export async function startDetached(fleet: string, logs: string): Promise<Answer<'started'>> {
  mkdirSync(logs, { recursive: true, mode: 0o700 });
  const output = join(logs, 'daemon.out');
  const descriptor = openSync(output, 'a', 0o600);
  const before = statSync(output).size;
  const child = spawn(process.execPath, [...daemonArgs(fleet), '--ready-descriptor', '3'], {
    detached: true,
    stdio: ['ignore', descriptor, descriptor, 'pipe'],
  });
  closeSync(descriptor);
  const said = await firstWord(child.stdio[3] as Readable);
  child.unref();
  if (said === 'ready') return answered('started');
  if (said.startsWith('{')) return { ok: false, refusal: (JSON.parse(said) as Problem).refusal };
  const lines = readFileSync(output).subarray(before).toString('utf8').trimEnd().split('\n').slice(-SHOWN_LINES);
  const answer = declined(
    'daemon-start-failed',
    `the daemon of ${fleet} ended before it could answer`,
    `Correct what its last lines name and run idunn daemon again; ${output} and daemon.log beside it have the rest.`,
  );
  return answer.ok ? answer : { ok: false, refusal: { ...answer.refusal, detail: { lastOutput: lines } } };
}

/**
 * What the daemon writes to its pipe before it closes it: `ready` or its refusal. Its death closes the pipe too, so
 * this ends.
 */
async function firstWord(pipe: Readable): Promise<string> {
  let text = '';
  pipe.setEncoding('utf8');
  for await (const chunk of pipe as AsyncIterable<string>) text += chunk;
  return text.trim();
}
