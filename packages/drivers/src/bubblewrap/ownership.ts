import { chmod, lchown, lstat, readdir } from 'node:fs/promises';
import { STEP_USER } from './places.ts';

const SLASH = Buffer.from('/');

/**
 * Gives a part of the stage to the user that steps run as, links themselves included and never what they lead to. No
 * process of a step lives meanwhile; the directories above are Idunn's alone, so that nobody else of that user can
 * come near.
 */
export async function giveToSteps(path: string): Promise<void> {
  await give(Buffer.from(path));
}

async function give(path: Buffer): Promise<void> {
  const found = await lstat(path);
  if (found.isDirectory()) {
    for (const name of await readdir(path, { encoding: 'buffer' })) await give(Buffer.concat([path, SLASH, name]));
  }
  // A hard link to something else on the disk would carry it along; a checkout makes none.
  if (found.uid !== STEP_USER.uid && (found.isDirectory() || found.nlink === 1)) {
    await lchown(path, STEP_USER.uid, STEP_USER.gid);
  }
}

/** Lets steps read what stays the authority's: the pinned inputs. */
export const showToSteps = (directory: string): Promise<void> => chmod(directory, 0o755);
