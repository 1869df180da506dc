import {
  appendFileSync,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { type Clock, isDigest } from '@idunn/kernel';
import { type KeptDigests, REMEMBERED_FILES } from './file-digests.ts';

/**
 * A file that changed so recently could change again within one tick of the kernel's clock, and its times would not
 * show it. It is read again by the next daemon.
 */
const SETTLED_NS = 100_000_000n;
/** Anything else on a line is not ours, or was cut off. */
const LINE = /^=(\d+:\d+:\d+:\d+:\d+) (\S+)$/;

/**
 * Digests that outlive the daemon, of this boot only: its first line is the boot id, each other one a file's stamp and
 * digest; when it is full it is begun anew. It lies where the tickets lie and is trusted as they are. Whatever is amiss
 * with it, files are read again.
 */
export function digestBook(file: string, clock: Pick<Clock, 'bootId' | 'wallMs'>): KeptDigests {
  const begin = `${clock.bootId}\n`;
  const text = readOwn(file);
  const lines = text?.startsWith(begin) === true ? text.slice(begin.length).split('\n') : null;
  const whole = lines !== null && lines.length <= REMEMBERED_FILES ? lines : null;
  let begun = whole !== null;
  let kept = whole?.length ?? 0;
  return {
    known: (whole ?? []).flatMap((line) => {
      const [, stamp, digest] = LINE.exec(line) ?? [];
      return stamp !== undefined && digest !== undefined && isDigest(digest) ? [[stamp, digest] as const] : [];
    }),
    keep(stamp, digest, changedNs) {
      const ageNs = BigInt(Math.round(clock.wallMs())) * 1_000_000n - changedNs;
      if (ageNs < SETTLED_NS) return;
      try {
        if (!begun || kept >= REMEMBERED_FILES) {
          rmSync(file, { force: true });
          writeFileSync(file, begin, { mode: 0o600, flag: 'wx' });
          begun = true;
          kept = 0;
        }
        appendFileSync(file, `=${stamp} ${digest}\n`);
        kept += 1;
      } catch {
        // A full disk costs the next daemon a reading.
      }
    },
  };
}

/** The text of a plain file that only this user can write; `null` for anything else. */
function readOwn(file: string): string | null {
  try {
    const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const { uid, mode } = fstatSync(descriptor);
      const own =
        uid === process.geteuid?.() && (mode & constants.S_IFMT) === constants.S_IFREG && (mode & 0o077) === 0;
      return own ? readFileSync(descriptor, 'utf8') : null;
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return null;
  }
}
