import { dirname } from 'node:path';
import { userWords } from '../process/user/words.ts';
import type { Account } from './reader.ts';

/** What the reader is shown behind a directory that it cannot enter. */
export interface Opening {
  readonly closed: string;
  /** Below the closed directory. */
  readonly shown: string;
  /** Only what is the reader's own, an object cache, is. */
  readonly writable: boolean;
}

/** How git gets to an origin. */
export interface Way {
  /** A local origin whose owner was checked. Git itself asks only whether it is the user that reads. */
  readonly trusted: boolean;
  /** The directory with a local repository's data; `null` where that is git's to find. */
  readonly repository: string | null;
  /** `null` where the reader gets there by itself. */
  readonly opening: Opening | null;
}

/** What `setpriv` needs to become the reader; it gives all of it away. */
const KEPT_FOR_A_MOMENT = ['CAP_SETUID', 'CAP_SETGID', 'CAP_SETPCAP'];

/**
 * Words before git: a mount namespace of its own, in which each closed directory is an empty one that holds nothing but
 * what is shown, at its own path; and in it the reader, with no way to more. Nothing changes outside.
 */
export function openingWords(
  bubblewrap: string,
  openings: readonly Opening[],
  { uid, gid }: Account,
): readonly string[] {
  const closed = new Set(openings.map((opening) => opening.closed));
  const between = new Set(openings.flatMap(directoriesBetween));
  return [
    [bubblewrap, '--die-with-parent', '--dev-bind', '/', '/'],
    [...closed].flatMap((directory) => ['--perms', '0755', '--tmpfs', directory]),
    // Bubblewrap would make them for root alone.
    [...between].flatMap((directory) => ['--perms', '0755', '--dir', directory]),
    openings.flatMap(({ shown, writable }) => [writable ? '--bind' : '--ro-bind', shown, shown]),
    [...closed].flatMap((directory) => ['--remount-ro', directory]),
    ['--cap-drop', 'ALL', ...KEPT_FOR_A_MOMENT.flatMap((name) => ['--cap-add', name]), '--'],
    userWords({ uid, gid, stateGid: null }),
  ].flat();
}

function directoriesBetween({ closed, shown }: Opening): readonly string[] {
  const between: string[] = [];
  for (let at = dirname(shown); at !== closed; at = dirname(at)) between.unshift(at);
  return between;
}
