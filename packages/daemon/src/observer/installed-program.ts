import { copyFile, mkdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { digestJson, type Outcome, ok } from '@idunn/kernel';
import { observerInstallation } from '@idunn/observer';

/** The observer's program, ready to be sealed. */
export interface AssembledObserver {
  /** Holds exactly its installed bytes. */
  readonly directory: string;
  /** Where the program starts, below the directory. */
  readonly entry: string;
}

/**
 * Brings the installed bytes of the observer together in a directory that holds exactly them, so that it is sealed
 * like any other program. The directory is named by what it was made from: the same installation gives the same one.
 * Two daemons of one fleet cannot be here at once; the store's lock is held.
 */
export async function assembleObserver(cache: string): Promise<Outcome<AssembledObserver>> {
  const installation = observerInstallation(import.meta.dirname);
  if (!installation.ok) return installation;
  const { entry, files } = installation.value;
  const parts = await Promise.all(
    files.map(async ({ from, to }) => {
      const { size, mtimeMs } = await stat(from);
      return [to, size, mtimeMs];
    }),
  );
  const name = digestJson(parts).slice(7, 23);
  const installed = join(cache, 'installed');
  const directory = join(installed, `observer-${name}`);
  if (await exists(directory)) return ok({ directory, entry });
  const draft = join(installed, 'observer.draft');
  await rm(draft, { recursive: true, force: true });
  for (const { from, to } of files) {
    await mkdir(dirname(join(draft, to)), { recursive: true, mode: 0o700 });
    await copyFile(from, join(draft, to));
  }
  await rename(draft, directory);
  return ok({ directory, entry });
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
