import { closeSync, existsSync, fsyncSync, linkSync, openSync, unlinkSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates an empty file that only its owner can read, unless it is there. A file that is there is not opened: closing
 * it again would end SQLite's locks on it in this process.
 */
export function createPrivateFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (!existsSync(file)) throw error;
  }
}

/** Gives a finished, closed file its durable name, unless the name is taken: then it throws. */
export function publishFile(draft: string, file: string): void {
  sync(draft);
  linkSync(draft, file);
  unlinkSync(draft);
  sync(dirname(file));
}

export function removeFile(file: string): void {
  if (existsSync(file)) unlinkSync(file);
}

function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
