import { constants } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { absent, type Evidence, seen, unknown } from '@idunn/kernel';
import { decodeStop, STOP_LIMIT_BYTES, type Stop, type StopKind } from './record.ts';

/** Which stop a file is to be, and whose. */
export interface StopFile {
  readonly file: string;
  readonly kind: StopKind;
  readonly target: string;
  /** The owner of the file proves who wrote it; nothing in it does. */
  readonly ownerUid: number;
}

/**
 * Reads one stop, engaged or clear. `absent` only where the file is missing from a directory that is there; whatever
 * else cannot be judged is `unknown`, and holds (I8, I10).
 */
export async function readStop(about: StopFile): Promise<Evidence<Stop>> {
  const { file } = about;
  try {
    const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      return await judge(handle, about);
    } finally {
      await handle.close();
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ELOOP') return unknown(`${file} is a symbolic link`);
    if (code !== 'ENOENT') return unknown(message);
    return absence(file);
  }
}

async function judge(handle: FileHandle, { file, kind, target, ownerUid }: StopFile): Promise<Evidence<Stop>> {
  const about = await handle.stat();
  if (!about.isFile()) return unknown(`${file} is not a regular file`);
  const { uid } = about;
  if (uid !== ownerUid) {
    const root = uid === 0 ? '; what root repaired must be cleared by its owner' : '';
    return unknown(`${file} belongs to uid ${uid}, not to uid ${ownerUid}${root}`);
  }
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(STOP_LIMIT_BYTES + 1), 0, STOP_LIMIT_BYTES + 1, 0);
  if (bytesRead === 0) return unknown(`${file} is empty`);
  if (bytesRead > STOP_LIMIT_BYTES) return unknown(`${file} is larger than ${STOP_LIMIT_BYTES} bytes`);
  const decoded = decodeStop(buffer.subarray(0, bytesRead), kind, target);
  return decoded.ok ? seen(decoded.value) : unknown(`${file}: ${decoded.refusal.reason}`);
}

async function absence(file: string): Promise<Evidence<never>> {
  const directory = dirname(file);
  try {
    return (await stat(directory)).isDirectory() ? absent : unknown(`${directory} is not a directory`);
  } catch (error) {
    return unknown(`the directory of ${file}: ${(error as Error).message}`);
  }
}
