import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Timers } from '@idunn/kernel';
import type { CopyAnswer, CopyOrders } from './copy-orders.ts';

/** A copy that takes longer is given up, in milliseconds. */
const COPY_MS = 600_000;
/** Of what it says, so much is listened to, in characters. */
const SAID_LIMIT = 65_536;

const copierFile = import.meta.url.endsWith('.ts') ? './copier.ts' : './copier.js';
const COPIER = fileURLToPath(new URL(copierFile, import.meta.url));
const ARGV = import.meta.url.endsWith('.ts') ? ['--conditions=source', COPIER] : [COPIER];

export interface CopySite {
  /** Whose copy it is: in the copier's environment, so that a later daemon finds it. */
  readonly activation: string;
  readonly timers: Timers;
  readonly signal: AbortSignal;
}

/** Has a state copied by a process of its own; never throws for what the disk, the state or that process does. */
export function runCopier(orders: CopyOrders, { activation, timers, signal }: CopySite): Promise<CopyAnswer> {
  return new Promise((resolve) => {
    let said = '';
    let complained = '';
    const child = spawn(process.execPath, ['--no-warnings', ...ARGV], {
      cwd: '/',
      env: { IDUNN_ACTIVATION: activation },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const stop = (): void => void child.kill('SIGKILL');
    const withdraw = timers.after(COPY_MS, stop);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(0, SAID_LIMIT);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complained = (complained + text).slice(-SAID_LIMIT);
    });
    child.on('error', (error) => {
      complained += error.message;
    });
    child.on('close', () => {
      withdraw();
      signal.removeEventListener('abort', stop);
      resolve(answerIn(said) ?? { kind: 'failed', because: complained.trim() || 'the copier ended without a word' });
    });
    child.stdin.on('error', () => {}).end(JSON.stringify(orders));
  });
}

function answerIn(text: string): CopyAnswer | null {
  try {
    return JSON.parse(text) as CopyAnswer;
  } catch {
    return null;
  }
}
