import { type Outcome, refusal, refused } from '@idunn/kernel';
import { isErrno } from '../adapters/files.ts';

/** Runs the work of one key after one another; work of different keys never waits for each other. */
export function createLanes(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const lanes = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const before = lanes.get(key) ?? Promise.resolve();
    const mine = before.then(work, work);
    const settled = mine
      .catch(() => undefined)
      .finally(() => {
        if (lanes.get(key) === settled) lanes.delete(key);
      });
    lanes.set(key, settled);
    return mine;
  };
}

/** A disk that refuses a write is an answer at that step (F28); anything else that is thrown is a fault of ours. */
export async function orDiskRefusal<T>(doing: string, work: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
  try {
    return await work();
  } catch (error) {
    if (!isErrno(error)) throw error;
    return refused(refusal('release-write-failed', `${doing} failed: ${error.message}.`));
  }
}

export const aborted = (what: string): Outcome<never> => refused(refusal('work-aborted', `${what} was withdrawn.`));
