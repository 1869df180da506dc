import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { removeTree } from '@idunn/ladder';
import type { Environment } from '../edge/environment.ts';

/** Runs what may not be left half done; whoever interrupts meanwhile is told what comes first. */
export type Uninterrupted = <T>(first: string, work: () => Promise<T>) => Promise<T>;

/**
 * Works in a directory of its own, beneath `root` where one is named, that is gone afterwards whatever happened: also
 * when a person interrupts, who gets the prompt back at once.
 */
export async function inScratch<T>(
  environment: Environment,
  root: string | undefined,
  work: (scratch: string, uninterrupted: Uninterrupted) => Promise<T>,
): Promise<T> {
  const beneath = root === undefined ? tmpdir() : resolve(environment.directory, root);
  const scratch = await mkdtemp(join(beneath, 'idunn-ladder-'));
  let first: string | null = null;
  const forget = environment.onInterrupt(() => {
    if (first !== null) return environment.err.write(`Interrupted: ${first}.\n`);
    forget();
    void removeTree(scratch).finally(() => environment.endInterrupted());
  });
  try {
    return await work(scratch, async (what, change) => {
      first = what;
      try {
        return await change();
      } finally {
        first = null;
      }
    });
  } finally {
    forget();
    await removeTree(scratch);
  }
}
