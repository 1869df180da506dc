import { constants } from 'node:fs';
import { chmod, type FileHandle, lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { BundleEntry } from './entry.ts';

// Everything that bundles write. Files are opened anew and never through a link.

const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

export async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );
}

/** Opens a file that is not there yet, readable by its owner only. */
export const createFile = (path: string, mode = 0o600): Promise<FileHandle> => open(path, NEW_FILE, mode);

/** Writes all of a chunk: the system may take less of it at a time. */
export async function writeAll(file: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let at = 0; at < chunk.length; ) at += (await file.write(chunk, at)).bytesWritten;
}

/** Gives a file that is whole on the disk its name; the name is on the disk too when this returns. */
export async function publish(draft: string, path: string): Promise<void> {
  await rename(draft, path);
  const directory = await open(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** Writes a small file so that it is there whole or not at all. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const draft = `${path}.partial`;
  await rm(draft, { force: true });
  const file = await createFile(draft);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await publish(draft, path);
}

/** Removes a file of ours that is not whole. */
export const discardFile = (path: string): Promise<void> => rm(path, { force: true });

/** Removes a copy that is ours, directories that were copied closed to their owner included. */
export async function removeTree(path: string): Promise<void> {
  await openUp(path);
  await rm(path, { recursive: true, force: true });
}

async function openUp(path: string): Promise<void> {
  if (!(await exists(path)) || !(await lstat(path)).isDirectory()) return;
  await chmod(path, 0o700);
  for (const entry of await readdir(path, { withFileTypes: true })) {
    if (entry.isDirectory()) await openUp(join(path, entry.name));
  }
}

/** A directory that fills up beside its place and takes it when it is whole. */
export class DraftDirectory {
  readonly #draft: string;
  readonly #place: string;
  /** Directories whose own mode would keep their content out, and their mode. */
  readonly #closed: (readonly [path: string, mode: number])[] = [];

  private constructor(place: string) {
    this.#place = place;
    this.#draft = `${place}.partial`;
  }

  /** Begins anew; what an earlier attempt left unfinished is removed. */
  static async begin(place: string): Promise<DraftDirectory> {
    const draft = new DraftDirectory(place);
    await draft.discard();
    await mkdir(draft.#draft, { mode: 0o700 });
    return draft;
  }

  async directory({ path, mode }: BundleEntry): Promise<void> {
    await mkdir(join(this.#draft, path), { mode: mode | 0o700 });
    if ((mode & 0o700) !== 0o700) this.#closed.push([path, mode]);
  }

  /** Writes one file, chunk by chunk. */
  async file({ path, mode, mtimeMs }: BundleEntry, content: AsyncIterable<Uint8Array>): Promise<void> {
    const file = await createFile(join(this.#draft, path), mode | 0o200);
    try {
      for await (const chunk of content) await writeAll(file, chunk);
      await file.chmod(mode);
      await file.utimes(mtimeMs / 1_000, mtimeMs / 1_000);
    } finally {
      await file.close();
    }
  }

  async commit(): Promise<void> {
    for (const [path, mode] of this.#closed.toReversed()) {
      const directory = await open(join(this.#draft, path), constants.O_RDONLY | constants.O_DIRECTORY);
      try {
        await directory.chmod(mode);
      } finally {
        await directory.close();
      }
    }
    await publish(this.#draft, this.#place);
  }

  async discard(): Promise<void> {
    await removeTree(this.#draft);
  }
}
