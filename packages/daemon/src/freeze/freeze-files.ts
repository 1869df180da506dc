import { constants } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Freeze, FreezePort } from '@idunn/authority';
import { absent, digestBytes, type Evidence, seen, unknown } from '@idunn/kernel';
import { z } from 'zod';

const freezeSchema = z.strictObject({
  schema: z.literal('idunn.freeze/v1'),
  by: z.string().min(1).max(255),
  reason: z.string().max(1_000),
  since: z.iso.datetime(),
});

/** A freeze record is written by people and small programs; a larger one cannot be read as a stop. */
const LIMIT_BYTES = 16_384;

/**
 * Stops on deployments as files `<state>/freezes/TARGET.json`. Only a file that is missing from a directory that is
 * there admits; whatever else cannot be judged holds (I8, I10).
 */
export async function freezeFiles(state: string): Promise<FreezePort> {
  const directory = join(state, 'freezes');
  await mkdir(directory, { recursive: true, mode: 0o700 });
  return {
    read: (target) => readFreeze(join(directory, `${target}.json`)),
    readHold: async () => absent,
  };
}

async function readFreeze(file: string): Promise<Evidence<Freeze>> {
  try {
    const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      if (!(await handle.stat()).isFile()) return unknown(`${file} is not a regular file`);
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(LIMIT_BYTES + 1), 0, LIMIT_BYTES + 1, 0);
      if (bytesRead > LIMIT_BYTES) return unknown(`${file} is larger than ${LIMIT_BYTES} bytes`);
      return decode(file, buffer.subarray(0, bytesRead));
    } finally {
      await handle.close();
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') return unknown(`${file}: ${message}`);
    return (await directoryExists(join(file, '..'))) ? absent : unknown(`the directory of ${file} is gone`);
  }
}

function decode(file: string, bytes: Buffer): Evidence<Freeze> {
  try {
    const { by, reason, since } = freezeSchema.parse(JSON.parse(bytes.toString('utf8')));
    return seen({ by, reason, since, record: digestBytes(bytes), clearedBy: `remove ${file}` });
  } catch {
    return unknown(`${file} is no idunn.freeze/v1`);
  }
}

async function directoryExists(path: string): Promise<boolean> {
  try {
    const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
    await handle.close();
    return true;
  } catch {
    return false;
  }
}
