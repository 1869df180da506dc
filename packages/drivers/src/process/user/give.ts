import { chmod, lchown, lstat, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import { isErrno } from '../proc.ts';
import { isClosed } from './modes.ts';
import type { RunsAs } from './words.ts';

/**
 * Hands what the authority has just written to the user it is for: every file first, a directory once nothing in it is
 * left to hand over.
 */
export async function giveTo(directory: string, { uid, gid }: Pick<RunsAs, 'uid' | 'gid'>): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) await giveTo(path, { uid, gid });
    else await lchown(path, uid, gid);
  }
  await lchown(directory, uid, gid);
}

/** Takes a directory back before the authority deletes in it: its user cannot exchange anything under our hands. */
export async function takeBack(directory: string): Promise<void> {
  if (process.geteuid?.() !== 0) return;
  try {
    await lchown(directory, 0, 0);
    if ((await lstat(directory)).isDirectory()) await chmod(directory, 0o700);
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error;
  }
}

/** A directory of ours that others pass through without seeing what is in it; only root has others. */
export async function letPass(directory: string): Promise<void> {
  if (process.geteuid?.() === 0) await chmod(directory, 0o711);
}

/** Refuses a path which the user cannot reach, and names the directory that stops it. */
export async function checkPassable(path: string, runs: RunsAs): Promise<Outcome<'passable'>> {
  for (let at = dirname(path); ; at = dirname(at)) {
    if (await isClosed(at, runs)) {
      return refused(
        refusal('workload-path-closed', `User ${runs.uid} cannot pass through ${at} on the way to ${path}.`),
      );
    }
    if (at === '/') return ok('passable');
  }
}

/** Whose a directory is; `null` when it is not there. */
export async function ownerOf(directory: string): Promise<number | null> {
  try {
    return (await lstat(directory)).uid;
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null;
    throw error;
  }
}
