import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

export type Written =
  | { readonly kind: 'durable' }
  /** The new bytes are in place, but their directory's sync was not confirmed. */
  | { readonly kind: 'not-synced'; readonly because: string }
  /** The old bytes are in place, untouched. */
  | { readonly kind: 'failed'; readonly because: string };

/**
 * Replaces a file so that a reader, or a crash at any instant, finds the old bytes or the new ones whole (F9, F28).
 * What is worth nothing after a reboot need only survive the death of its `process`, and waits for no disk.
 */
export async function replaceFile(
  path: string,
  text: string,
  survives: 'power-loss' | 'process' = 'power-loss',
): Promise<Written> {
  const next = `${path}.next`;
  try {
    const file = await open(next, 'w', 0o600);
    try {
      await file.writeFile(text);
      if (survives === 'power-loss') await file.sync();
    } finally {
      await file.close();
    }
    await rename(next, path);
  } catch (error) {
    return { kind: 'failed', because: String(error) };
  }
  if (survives === 'process') return { kind: 'durable' };
  try {
    const directory = await open(dirname(path), 'r');
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
    return { kind: 'durable' };
  } catch (error) {
    return { kind: 'not-synced', because: String(error) };
  }
}
