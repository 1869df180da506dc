import { constants } from 'node:fs';
import { mkdir, open, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import { readStop, type StopFile } from './read.ts';
import { encodeStop, type StopRecord } from './record.ts';

export interface StopChange {
  readonly state: StopRecord['state'];
  readonly by: string;
  readonly reason: string;
  /** ISO 8601. */
  readonly since: string;
  /** An id that nobody has used, for the file that is written beside it first. */
  readonly freshId: string;
}

/**
 * Engages or clears a stop: the whole record replaces what was there, also what could not be read. The directory must
 * be there; who may write into it is whose word counts.
 */
export async function writeStop(about: StopFile, change: StopChange): Promise<Outcome<StopRecord>> {
  const { file, kind, target } = about;
  const before = await readStop(about);
  const { freshId, ...words } = change;
  const sequence = before.kind === 'seen' ? before.value.record.sequence + 1 : 1;
  const record: StopRecord = { schema: `idunn.${kind}/v1`, target, ...words, sequence };
  const draft = join(dirname(file), `.${basename(file)}.${freshId}`);
  try {
    await place(draft, encodeStop(record));
    await rename(draft, file);
    await syncDirectory(dirname(file));
    return ok(record);
  } catch (error) {
    await unlink(draft).catch(() => undefined);
    return refused(refusal('stop-not-written', `${file}: ${(error as Error).message}`));
  }
}

/** Makes the directory of a fleet's own stops. */
export const makeStopDirectory = async (directory: string): Promise<void> =>
  void (await mkdir(directory, { recursive: true, mode: 0o700 }));

async function place(file: string, bytes: Buffer): Promise<void> {
  const handle = await open(file, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o644);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
