import { constants } from 'node:fs';
import { lstat, mkdir, open, rename, unlink } from 'node:fs/promises';
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
 * be there; who may write into it is whose word counts. A record that would not count as its owner's is not written.
 * After `stop-not-written` the earlier one stands, after `stop-not-durable` the new one, at least until the power goes.
 */
export async function writeStop(about: StopFile, change: StopChange): Promise<Outcome<StopRecord>> {
  const { file, kind, target, ownerUid } = about;
  const uid = process.geteuid?.();
  if (uid !== ownerUid) {
    const reason = `${file} is for uid ${ownerUid} to write, and this is uid ${uid}; nothing was changed`;
    return refused(refusal('stop-not-written', reason, { remedy: AS_ITS_OWNER }));
  }
  const there = await lstat(file).catch(() => null);
  if (there?.isDirectory() === true) {
    const remedy = `Move the directory ${file} away, and run the command again; it holds until then.`;
    return refused(refusal('stop-not-written', `a directory is in the place of ${file}`, { remedy }));
  }
  const before = await readStop(about);
  const { freshId, ...words } = change;
  const sequence = before.kind === 'seen' ? before.value.record.sequence + 1 : 1;
  const record: StopRecord = { schema: `idunn.${kind}/v1`, target, ...words, sequence };
  const draft = join(dirname(file), `.${basename(file)}.${freshId}`);
  try {
    await place(draft, encodeStop(record));
    await rename(draft, file);
  } catch (error) {
    await unlink(draft).catch(() => undefined);
    return refused(refusal('stop-not-written', `${file}: ${(error as Error).message}`));
  }
  try {
    await syncDirectory(dirname(file));
    return ok(record);
  } catch (error) {
    // It is in place: whoever reads it now finds it (F28).
    return refused(refusal('stop-not-durable', `${file} is written: ${(error as Error).message}`));
  }
}

const AS_ITS_OWNER = 'Run the command as that user: what another writes is not taken for their word, and holds.';

/** Makes the directory of a fleet's own stops. What lies in its place stays, and holds everything. */
export async function makeStopDirectory(directory: string): Promise<Outcome<'there'>> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    return ok('there');
  } catch (error) {
    const remedy = `Move away what lies in the place of ${directory}, or correct its permissions; it holds until then.`;
    return refused(refusal('stop-not-written', `${directory}: ${(error as Error).message}`, { remedy }));
  }
}

async function place(file: string, bytes: Buffer): Promise<void> {
  const handle = await open(file, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o644);
  try {
    // Whatever the umask was: a daemon that is another user reads it.
    await handle.chmod(0o644);
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
