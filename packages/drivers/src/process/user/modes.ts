import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { RunsAs } from './words.ts';

/** Bits of a mode for one kind of user. */
export const MAY = { read: 4, pass: 1 } as const;

/** Whether the modes keep a user from something; lists of access rights are not looked at. */
export function lacks(status: Stats, { uid, gid, stateGid }: RunsAs, bits: number): boolean {
  const shift = status.uid === uid ? 6 : status.gid === gid || status.gid === stateGid ? 3 : 0;
  return ((status.mode >> shift) & bits) !== bits;
}

/** Whether the modes of a directory keep a user from passing. */
export async function isClosed(directory: string, runs: RunsAs): Promise<boolean> {
  const status = await stat(directory).catch(() => null);
  return status !== null && lacks(status, runs, MAY.pass);
}
