import { StoreFault } from '../port.ts';

const SQLITE_BUSY = 5;
const SQLITE_FULL = 13;
/** PERM, READONLY, IOERR, FULL, CANTOPEN: they tell of the disk and its mount, and nothing of the records. */
const OF_THE_DISK: ReadonlySet<number | null> = new Set([3, 8, 10, SQLITE_FULL, 14]);

/** SQLite's primary result code of an error, or `null` when it is another kind of error. */
export function resultCodeOf(error: unknown): number | null {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
    ? error.errcode & 0xff
    : null;
}

export const isBusy = (error: unknown): boolean => resultCodeOf(error) === SQLITE_BUSY;
export const isFull = (error: unknown): boolean => resultCodeOf(error) === SQLITE_FULL;

/** What a failed write means to the caller: a full disk is named, everything else is a write that failed. */
export function writeFault(cause: unknown): StoreFault {
  if (cause instanceof StoreFault) return cause;
  return isFull(cause)
    ? new StoreFault('store-full', 'The disk of the record store is full; nothing was changed.', { cause })
    : new StoreFault('store-write-failed', `The record store could not be written: ${messageOf(cause)}.`, { cause });
}

/** What a failed opening means to the caller: only records that were seen to be damaged are to be put back (I10). */
export const openFault = (cause: unknown): StoreFault =>
  OF_THE_DISK.has(resultCodeOf(cause)) ? writeFault(cause) : readFault(cause);

/** What a failed read means to the caller. */
export function readFault(cause: unknown): StoreFault {
  if (cause instanceof StoreFault) return cause;
  return new StoreFault('store-unreadable', `The record store cannot be read: ${messageOf(cause)}.`, { cause });
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
