import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { ROOT } from './root.mjs';

/** Most output that is kept of one program; the end of it is what tells why it failed. */
const MAX_OUTPUT_BYTES = 256 * 1024;
/** How long a program that overran its budget may take to end by itself. */
const GRACE_MS = 5_000;

/** @type {Set<number>} Process groups that run at this moment. */
const running = new Set();

/** Ends everything that was started here: called when verify itself is told to stop. */
export function endAll() {
  for (const group of running) signalGroup(group, 'SIGKILL');
}

/**
 * Runs a program by argv in a process group of its own, so that an overrun ends it with all that it started.
 *
 * @param {readonly string[]} argv
 * @param {number} budgetMs
 * @returns {Promise<{ ok: boolean, overran: boolean, output: string, stdout: string }>}
 */
export function runProgram([program = '', ...args], budgetMs) {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: ROOT,
      detached: true,
      env: {
        ...process.env,
        PATH: `${join(ROOT, 'node_modules/.bin')}${delimiter}${process.env.PATH}`,
        NODE_OPTIONS: '',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const kept = { output: '', stdout: '' };
    const keep = (name, chunk) => {
      kept[name] = (kept[name] + chunk).slice(-MAX_OUTPUT_BYTES);
    };
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      keep('output', chunk);
      keep('stdout', chunk);
    });
    child.stderr.setEncoding('utf8').on('data', (chunk) => keep('output', chunk));

    let overran = false;
    const group = child.pid;
    if (group !== undefined) running.add(group);
    const budget = setTimeout(() => {
      overran = true;
      signalGroup(group, 'SIGTERM');
      setTimeout(() => signalGroup(group, 'SIGKILL'), GRACE_MS).unref();
    }, budgetMs);
    const end = (ok) => {
      clearTimeout(budget);
      // What the program left behind would disturb the next one.
      signalGroup(group, 'SIGKILL');
      running.delete(group);
      resolve({ ok: ok && !overran, overran, ...kept });
    };
    child.once('error', (error) => {
      keep('output', `${error.message}\n`);
      end(false);
    });
    child.once('close', (code) => end(code === 0));
  });
}

function signalGroup(group, signal) {
  try {
    if (group !== undefined) process.kill(-group, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}
