import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Environment } from '../edge/environment.ts';

/** Works in a directory of its own, beneath `root` where one is named, that is gone afterwards whatever happened. */
export async function inScratch<T>(
  environment: Environment,
  root: string | undefined,
  work: (scratch: string) => Promise<T>,
): Promise<T> {
  const beneath = root === undefined ? tmpdir() : resolve(environment.directory, root);
  const scratch = await mkdtemp(join(beneath, 'idunn-ladder-'));
  try {
    return await work(scratch);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
