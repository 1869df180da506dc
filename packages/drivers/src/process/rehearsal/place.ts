import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type ActivationFiles, activationFiles, isSegment } from '../activation-directory.ts';
import { namesIn } from '../files.ts';

const PREFIX = 'rehearsal-';

/** Everything that one rehearsal makes on disk. */
export interface Place {
  /** The id that its processes carry; names its directory and its activation directory. */
  readonly id: string;
  readonly directory: string;
  readonly copy: string;
  readonly log: string;
  readonly files: ActivationFiles;
  /** Written by the rehearser. */
  readonly result: string;
}

/** Where rehearsals are made: the directory of each is there before anything else of it is, and goes last. */
export class Places {
  readonly #directory: string;
  readonly #runtime: string;

  constructor(directory: string, runtime: string) {
    this.#directory = directory;
    this.#runtime = runtime;
  }

  of(name: string): Place {
    const id = `${PREFIX}${name}`;
    const directory = join(this.#directory, id);
    const files = activationFiles(this.#runtime, id);
    const result = join(files.own, 'result.json');
    return { id, directory, copy: join(directory, 'state'), log: join(directory, 'program.log'), files, result };
  }

  async begin({ directory }: Place): Promise<void> {
    await mkdir(directory, { recursive: true, mode: 0o700 });
  }

  /** Every place that was begun and not ended. */
  async all(): Promise<readonly Place[]> {
    const names = await namesIn(this.#directory);
    return names
      .filter((name) => name.startsWith(PREFIX) && isSegment(name))
      .map((name) => this.of(name.slice(PREFIX.length)));
  }
}

/** Removes all that a rehearsal made. Only when none of its processes is left. */
export async function removePlace({ directory, files }: Place): Promise<void> {
  // A process that just died may still be closing what it wrote.
  for (const path of [files.directory, files.own, directory])
    await rm(path, { recursive: true, force: true, maxRetries: 3 });
}
