import { join } from 'node:path';
import { absent, type Evidence, type Outcome, ok, refusal, refused, seen, unknown } from '@idunn/kernel';
import { exists, removeTree } from '../bundle/files.ts';
import { RefusedError } from '../bundle/refused-error.ts';
import { walk } from '../bundle/walk.ts';
import type { Slot } from '../ladder/model.ts';
import type { AppData } from './app-data.ts';
import { entitled } from './entitled.ts';
import { type Part, part } from './report.ts';
import { type Standing, standing } from './standing.ts';
import { copyTree, exchange, settle } from './tree.ts';
import type { Watermark } from './watermark.ts';

export interface DirectoryOptions {
  /** What the data is, for people. */
  readonly description: string;
  /** The directory of a slot. Beside it the loading uses `<directory>.incoming` and `<directory>.previous`. */
  readonly locate: (slot: Slot) => string;
  readonly standing: Standing;
  /** Takes out of a loaded copy what would act on the world, and says what was done. */
  readonly neutralise?: (directory: string) => Promise<readonly string[]>;
}

/** The name of the tree in a staging directory. */
export const DIRECTORY_DUMP = 'files';

/**
 * The data of an application in one directory of files. A file that changes while it is copied makes the capture
 * partial; a link or device makes it fail. What a load replaces is kept beside it until the next load.
 */
export function directoryData(options: DirectoryOptions): AppData {
  return {
    describe: () => options.description,
    ...standing(options.standing),

    async dump(slot, staging) {
      const captured = await capture(options.locate(slot), join(staging, DIRECTORY_DUMP));
      const mark = await watermarkOf(join(staging, DIRECTORY_DUMP));
      const watermark = mark.kind === 'seen' ? mark.value : null;
      return ok({ parts: [captured], watermark, appMeta: {} });
    },

    async load(clearance, slot, staging, token) {
      const may = entitled(clearance, slot, token);
      if (!may.ok) return may;
      const [staged, place] = [join(staging, DIRECTORY_DUMP), options.locate(slot)];
      const [incoming, previous] = [`${place}.incoming`, `${place}.previous`];
      return answered(place, async () => {
        if (!(await exists(staged))) return unusable(`${staged} does not exist`);
        await settle(place, previous);
        await removeTree(incoming);
        const { files, changed } = await copyTree(staged, incoming, { durable: true });
        if (changed.length > 0) return unusable(`${changed.join(', ')} changed while it was loaded`);
        await exchange(incoming, place, previous);
        return ok({ parts: [part.complete('files', files)] });
      });
    },

    watermark: (slot) => watermarkOf(options.locate(slot)),

    async neutraliseAfterLoad(clearance, slot, token) {
      const may = entitled(clearance, slot, token);
      if (!may.ok) return may;
      const place = options.locate(slot);
      return answered(place, async () => ok((await options.neutralise?.(place)) ?? []));
    },
  };
}

async function capture(from: string, to: string): Promise<Part> {
  try {
    const { files, changed } = await copyTree(from, to, { durable: false });
    if (changed.length === 0) return part.complete('files', files);
    return part.partial(
      'files',
      files,
      files + changed.length,
      `changed while copied: ${changed.slice(0, 10).join(', ')}`,
    );
  } catch (error) {
    if (error instanceof RefusedError || (error instanceof Error && 'syscall' in error)) {
      return part.failed('files', error.message);
    }
    throw error;
  }
}

/** The newest change in whole microseconds, and how many files there are: a deletion moves the second only. */
async function watermarkOf(directory: string): Promise<Evidence<Watermark>> {
  try {
    if (!(await exists(directory))) return absent;
    let [files, newestMs] = [0, 0];
    for await (const { kind, mtimeMs } of walk(directory)) {
      if (kind === 'file') files += 1;
      newestMs = Math.max(newestMs, kind === 'file' ? mtimeMs : 0);
    }
    return seen({ mark: `${Math.floor(newestMs * 1_000)}`, magnitude: { files } });
  } catch (error) {
    return unknown(error instanceof Error ? error.message : String(error));
  }
}

async function answered<T>(place: string, work: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RefusedError) return refused(error.refusal);
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    return refused(refusal('data-not-reached', `The directory ${place} could not be used: ${error.message}.`));
  }
}

const unusable = (because: string): Outcome<never> =>
  refused(refusal('data-unusable', `The copy cannot be loaded: ${because}.`));
