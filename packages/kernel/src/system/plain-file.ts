import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;

export interface PlainFile {
  readonly limitBytes: number;
  /** Where people may have put a link in the place of their file. */
  readonly followLink?: boolean;
}

/**
 * The bytes of a plain file; `null` when it is not there. Anybody may have put anything in its place: nothing is waited
 * for (a pipe that nobody writes to holds up whoever opens it, for ever), no link is followed unless it is asked for,
 * and what is larger than the limit is not read. Throws for whatever is there and cannot be read so (I10).
 */
export async function readPlainFile(file: string, about: PlainFile): Promise<Buffer | null> {
  try {
    const handle = await open(file, flagsOf(about));
    try {
      check(file, await handle.stat(), about);
      return await handle.readFile();
    } finally {
      await handle.close();
    }
  } catch (error) {
    return absentAsNull(error);
  }
}

/** The same at once, for the few small files that are read where nothing else may come between. */
export function readPlainFileSync(file: string, about: PlainFile): Buffer | null {
  try {
    const descriptor = openSync(file, flagsOf(about));
    try {
      check(file, fstatSync(descriptor), about);
      return readFileSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    return absentAsNull(error);
  }
}

const flagsOf = ({ followLink }: PlainFile): number => O_RDONLY | O_NONBLOCK | (followLink === true ? 0 : O_NOFOLLOW);

function check(file: string, status: Stats, { limitBytes }: PlainFile): void {
  if (!status.isFile()) throw new Error(`${file} is no plain file`);
  if (status.size > limitBytes) throw new Error(`${file} is larger than ${limitBytes} bytes`);
}

function absentAsNull(error: unknown): null {
  const { code, path } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return null;
  if (code === 'ELOOP') throw new Error(`${path} is a symbolic link`);
  throw error;
}
