import { lstatSync } from 'node:fs';
import type { Timers } from '../clock.ts';

/** How soon a socket whose file was taken away is listened on again. */
const LOOK_MS = 1_000;

/**
 * Looks slowly whether the file of a listening socket is still the one that was made, for no event tells: whoever
 * cleans old files up leaves a program alive and out of reach. `mend` listens again; where it fails it is called again.
 * Call this right after listening. Answers how to end it.
 */
export function keepSocket(path: string, timers: Timers, mend: () => Promise<void>): () => void {
  let own = fileAt(path);
  let ended = false;
  let cancel = timers.after(LOOK_MS, look);

  function look(): void {
    void lookAndMend();
  }

  async function lookAndMend(): Promise<void> {
    if (own === null || fileAt(path) !== own) {
      own = await mend().then(
        () => fileAt(path),
        () => null,
      );
    }
    if (!ended) cancel = timers.after(LOOK_MS, look);
  }

  return () => {
    ended = true;
    cancel();
  };
}

function fileAt(path: string): string | null {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev}:${found.ino}:${found.birthtimeNs}`;
}
