import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rmdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Scope } from '../../tests/e2e/lib/fleet.ts';

const run = promisify(execFile);
const BOOT_MS = 30_000;
const END_MS = 10_000;
const LOOK_MS = 20;

/** A booted systemd in a container over this machine's own files; what is written stays in the container. */
export interface Systemd {
  /** Writes a unit and starts it. */
  start(unit: string, text: string): Promise<void>;
}

/** Why no systemd can be booted here; `null` when one can. */
export function whyNoSystemd(): string | null {
  if (process.geteuid?.() !== 0) return 'only root can boot a container';
  for (const file of ['/usr/bin/systemd-nspawn', '/lib/systemd/systemd', '/usr/bin/nsenter']) {
    if (!existsSync(file)) return `${file} is not installed`;
  }
  return null;
}

/**
 * Boots systemd beside this machine, on its network and with the `shared` paths in sight; it ends with all that it runs
 * when the scope does. Throws when it does not come up.
 */
export async function bootSystemd(
  scope: Pick<Scope, 'after'>,
  options: { readonly shared: readonly string[]; readonly name: string },
): Promise<Systemd> {
  // The machine's own root under a name of its own, since nspawn does not boot `/` itself; nobody can write through it.
  const root = await mkdtemp(join(tmpdir(), 'root-'));
  await run('mount', ['--bind', '--options', 'ro', '/', root]);
  const container = spawn(
    'systemd-nspawn',
    [
      '--quiet',
      '--register=no',
      '--keep-unit',
      '--kill-signal=SIGRTMIN+3',
      '--console=pipe',
      '--volatile=overlay',
      `--directory=${root}`,
      `--machine=${options.name}`,
      ...options.shared.map((path) => `--bind=${path}`),
      '/lib/systemd/systemd',
      '--unit=basic.target',
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const ended = once(container, 'exit');
  scope.after(async () => {
    container.kill('SIGTERM');
    const late = setTimeout(() => container.kill('SIGKILL'), END_MS);
    await ended;
    clearTimeout(late);
    await run('umount', ['--lazy', root]);
    await rmdir(root);
  });
  let told = '';
  for (const stream of [container.stdout, container.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      told = (told + text).slice(-4_096);
    });
  }
  const leader = await leaderOf(container.pid ?? 0, () => told);
  const inside = async (...argv: readonly string[]): Promise<string> => {
    const words = ['-t', String(leader), '-m', '-u', '-i', '-n', '-p', '-C', `--root=/proc/${leader}/root`, '--wd=/'];
    return (await run('nsenter', [...words, ...argv])).stdout;
  };
  await up(inside, () => told);
  return {
    async start(unit, text) {
      const file = join(`/proc/${leader}/root/run/systemd/system`, unit);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
      await inside('systemctl', 'daemon-reload');
      await inside('systemctl', 'start', unit);
    },
  };
}

/** The container's first process: the child of nspawn that runs systemd. */
async function leaderOf(nspawn: number, told: () => string): Promise<number> {
  const deadline = performance.now() + BOOT_MS;
  while (performance.now() < deadline) {
    const leader = childrenOf(nspawn).find((pid) => readText(`/proc/${pid}/comm`).trim() === 'systemd');
    if (leader !== undefined) return leader;
    await pause(LOOK_MS);
  }
  throw new Error(`the container did not come up: ${told()}`);
}

async function up(inside: (...argv: readonly string[]) => Promise<string>, told: () => string): Promise<void> {
  const deadline = performance.now() + BOOT_MS;
  for (;;) {
    const state = await inside('systemctl', 'is-active', 'basic.target').catch(() => '');
    if (state.trim() === 'active') return;
    if (performance.now() > deadline) throw new Error(`systemd did not come up: ${told()}`);
    await pause(LOOK_MS);
  }
}

const childrenOf = (parent: number): readonly number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => new RegExp(`^PPid:\\s+${parent}$`, 'm').test(readText(`/proc/${pid}/status`)));

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
