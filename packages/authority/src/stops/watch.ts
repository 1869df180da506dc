import { type FSWatcher, watch } from 'node:fs';
import { stat } from 'node:fs/promises';

export interface Watching {
  /** Watches what is there now: directories come, go, and are replaced. */
  refresh(): Promise<void>;
  close(): void;
}

interface Watched {
  readonly inode: string;
  readonly watcher: FSWatcher;
}

/** Tells of every change in these directories. One that cannot be watched is found by the slow look of whoever asks. */
export function watchDirectories(directories: () => readonly string[], changed: () => void): Watching {
  const watched = new Map<string, Watched>();
  let closed = false;

  const drop = (directory: string): void => {
    watched.get(directory)?.watcher.close();
    watched.delete(directory);
  };

  async function keep(directory: string): Promise<void> {
    const about = await stat(directory, { bigint: true }).catch(() => null);
    const inode = about?.isDirectory() === true ? `${about.dev} ${about.ino}` : null;
    if (closed || (inode !== null && watched.get(directory)?.inode === inode)) return;
    drop(directory);
    if (inode === null) return;
    try {
      const watcher = watch(directory, { persistent: false }, changed);
      watcher.on('error', () => drop(directory));
      watched.set(directory, { inode, watcher });
    } catch {
      // The system may have no watches left.
    }
  }

  return {
    async refresh() {
      const wanted = new Set(directories());
      for (const directory of watched.keys()) if (!wanted.has(directory)) drop(directory);
      await Promise.all([...wanted].map(keep));
    },
    close() {
      closed = true;
      for (const directory of watched.keys()) drop(directory);
    },
  };
}
