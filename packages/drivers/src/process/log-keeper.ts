import { type FSWatcher, watch } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import type { Timers } from '@idunn/kernel';
import { unlinkIfThere } from './files.ts';
import { type LogLimits, logFiles, type Redactor, rotateIfLarge } from './log-file.ts';
import { isErrno } from './proc.ts';

interface Kept {
  readonly limits: LogLimits;
  watcher: FSWatcher | null;
  withdraw: () => void;
}

/**
 * Keeps the logs of running programs within their size. A silent log costs nothing; a busy one is looked at once in
 * `lookMs`, so it may grow over its limit by what is written meanwhile.
 */
export class LogKeeper {
  readonly #timers: Timers;
  readonly #lookMs: number;
  readonly #kept = new Map<string, Kept>();

  constructor(timers: Timers, lookMs: number) {
    this.#timers = timers;
    this.#lookMs = lookMs;
  }

  keep(log: string, limits: LogLimits): void {
    if (this.#kept.has(log)) return;
    const kept: Kept = { limits, watcher: null, withdraw: () => {} };
    this.#kept.set(log, kept);
    this.#look(log, kept);
  }

  drop(log: string): void {
    const kept = this.#kept.get(log);
    kept?.watcher?.close();
    kept?.withdraw();
    this.#kept.delete(log);
  }

  /** The last look at the log of a program that has ended: a flood of its last moments does not stay. */
  finish(log: string, limits: LogLimits): void {
    this.drop(log);
    try {
      rotateIfLarge(log, limits);
    } catch (error) {
      // On a full disk there is no room to copy: the log stays as it is.
      if (!isErrno(error, 'ENOSPC') && !isErrno(error, 'ENOENT')) throw error;
    }
  }

  close(): void {
    for (const log of this.#kept.keys()) this.drop(log);
  }

  /** Watches first and looks then, so that no write falls between. */
  #look(log: string, kept: Kept): void {
    const lookLater = (): void => {
      kept.watcher?.close();
      kept.withdraw();
      kept.withdraw = this.#timers.after(this.#lookMs, () => this.#look(log, kept));
    };
    try {
      kept.watcher = watch(log, lookLater).on('error', lookLater);
      rotateIfLarge(log, kept.limits);
    } catch (error) {
      // The operator took the log away: there is nothing to keep small. A full disk is tried again.
      if (isErrno(error, 'ENOENT')) this.drop(log);
      else lookLater();
    }
  }
}

const CHUNK_BYTES = 262_144;

/** Takes the secrets out of the kept logs of an ended program, before the secrets themselves are removed (F30). */
export async function scrubLogs(log: string, files: number, redactor: Redactor): Promise<void> {
  if (redactor.longest === 0) return;
  for (const file of logFiles(log, files)) await scrub(file, redactor);
}

async function scrub(file: string, redactor: Redactor): Promise<void> {
  const source = await openIfThere(file);
  if (source === null) return;
  const draft = `${file}.draft`;
  const target = await open(draft, 'w', 0o600);
  let changed = false;
  try {
    let held = '';
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    for (;;) {
      const { bytesRead } = await source.read(chunk, 0, chunk.length);
      const text = held + chunk.toString('latin1', 0, bytesRead);
      const clean = redactor.redact(text);
      changed ||= clean !== text;
      // A secret may reach into the next chunk: so much is held back.
      const ready = bytesRead === 0 ? clean.length : Math.max(0, clean.length - redactor.longest);
      await target.write(Buffer.from(clean.slice(0, ready), 'latin1'));
      held = clean.slice(ready);
      if (bytesRead === 0) break;
    }
  } finally {
    await source.close();
    await target.close();
  }
  if (changed) await rename(draft, file);
  else await unlinkIfThere(draft);
}

async function openIfThere(file: string) {
  try {
    return await open(file, 'r');
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null;
    throw error;
  }
}
