import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { systemClock } from '../../../system/clock.ts';
import { CONTRACT_KINDS } from '../../../testing/record-store-contract.ts';
import type { Mutation } from '../../port.ts';
import { openRecordStore, type SqliteRecordStore } from '../open.ts';

const opened = new Set<SqliteRecordStore>();

/**
 * A directory for one test. Stores that a failing test left open are closed: their threads would keep the runner up.
 */
export async function inDirectory(run: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'idunn-store-'));
  try {
    await run(directory);
  } finally {
    await Promise.allSettled([...opened].map((store) => store.close()));
    opened.clear();
    await rm(directory, { recursive: true });
  }
}

/** A directory on a small file system of its own; needs root. */
export const inSmallFileSystem = (sizeBytes: number, run: (directory: string) => Promise<void>): Promise<void> =>
  inDirectory(async (directory) => {
    await promisify(execFile)('mount', ['-t', 'tmpfs', '-o', `size=${sizeBytes}`, 'tmpfs', directory]);
    try {
      await run(directory);
    } finally {
      await promisify(execFile)('umount', ['--lazy', directory]);
    }
  });

export async function openStore(directory: string, more: { maxBytes?: number } = {}): Promise<SqliteRecordStore> {
  const file = join(directory, 'records.db');
  const store = await openRecordStore({ file, kinds: CONTRACT_KINDS, clock: systemClock(), ...more });
  opened.add(store);
  return store;
}

/** A mutation that sets transaction `id` to `n`, whatever it is. */
export const set = (id: string, n: number): Mutation => ({
  key: { space: 'journal', kind: 'transaction', id },
  expect: 'any',
  next: { schema: 'idunn.transaction/v1', n },
});

/** A batch of one record and one history entry that say the same number; `fill` makes the entry long. */
export const step = (n: number, fill = 0) => ({
  mutations: [set('t', n)],
  history: [
    { kind: 'step', subject: 't', actor: 'ada', tenant: 'local', atMs: 0, body: { n, fill: 'x'.repeat(fill) } },
  ],
});

/** A program of this folder in a process of its own: its lines as they come, and its end. */
export function program(name: string, args: readonly string[], prefix: readonly string[] = []) {
  const script = join(import.meta.dirname, name);
  const [command = '', ...rest] = [...prefix, process.execPath, '--conditions=source', script, ...args];
  const child = spawn(command, rest, { stdio: ['ignore', 'pipe', 'inherit'] });
  return {
    pid: child.pid,
    lines: createInterface({ input: child.stdout }),
    kill: () => child.kill('SIGKILL'),
    ended: once(child, 'exit').then(([code]) => code as number | null),
  };
}
