import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Progress } from '@idunn/ladder';
import type { Environment } from '../edge/environment.ts';

const STEP_MS = 500;

/** Bytes and rate of one long piece of work: redrawn on a terminal, nothing elsewhere but the last word. */
export interface Meter {
  readonly progress: Progress;
  end(): void;
}

export function meter(environment: Environment, what: string): Meter {
  const begunMs = environment.nowMs();
  let bytes = 0;
  const line = (): string => {
    const seconds = Math.max(0.001, (environment.nowMs() - begunMs) / 1_000);
    return `${what}: ${sizeOf(bytes)}, ${sizeOf(bytes / seconds)}/s`;
  };
  const { err } = environment;
  const stop = err.terminal ? environment.every(STEP_MS, () => err.write(`\r\u001b[K${line()}`)) : () => undefined;
  return {
    progress: (content) => {
      bytes = content;
    },
    end() {
      stop();
      // What was refused at once has no rate.
      err.write(`${err.terminal ? '\r\u001b[K' : ''}${bytes === 0 ? '' : `${line()}\n`}`);
    },
  };
}

/** Bytes and rate of what fills a directory, by looking at it: for work that does not tell how far it is. */
export async function metered<T>(
  environment: Environment,
  what: string,
  directory: string,
  work: () => Promise<T>,
): Promise<T> {
  const shown = meter(environment, what);
  let looking = false;
  const look = async (): Promise<void> => {
    if (looking) return;
    looking = true;
    shown.progress(await bytesIn(directory).catch(() => 0));
    looking = false;
  };
  const stop = environment.err.terminal ? environment.every(STEP_MS, () => void look()) : () => undefined;
  try {
    return await work();
  } finally {
    stop();
    await look();
    shown.end();
  }
}

async function bytesIn(directory: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(directory, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size;
  }
  return bytes;
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

export function sizeOf(bytes: number): string {
  const power = Math.min(UNITS.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return `${power === 0 ? Math.round(value) : value.toFixed(1)} ${UNITS[power]}`;
}
