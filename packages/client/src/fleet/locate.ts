import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { parse } from 'smol-toml';
import { type Answer, answered, declined } from '../answer.ts';

export const FLEET_FILE = 'fleet.toml';
export const POINTER_FILE = '.idunn.toml';

/** Where a fleet was found, and what named it. */
export interface Located {
  readonly directory: string;
  /** For people: `--fleet`, `IDUNN_FLEET`, the pointer's path, … */
  readonly by: string;
}

export interface LocateRequest {
  /** What `--fleet` says. */
  readonly option: string | undefined;
  readonly directory: string;
  readonly home: string;
  variable(name: string): string | undefined;
}

/**
 * Finds the fleet by `--fleet`, `IDUNN_FLEET`, a `.idunn.toml` in this directory or above, the user's configuration
 * directory and `/etc/idunn`, in that order. What is named must be there: a wrong name is never passed over for the
 * next place.
 */
export async function locateFleet(request: LocateRequest): Promise<Answer<Located>> {
  const { option, directory, home } = request;
  if (option !== undefined) return named(resolve(directory, option), '--fleet');
  const variable = request.variable('IDUNN_FLEET');
  if (variable !== undefined && variable !== '') return named(resolve(directory, variable), 'IDUNN_FLEET');
  const pointer = await nearestPointer(directory);
  if (pointer !== null) return followPointer(pointer);
  const configuration = join(request.variable('XDG_CONFIG_HOME') ?? join(home, '.config'), 'idunn');
  for (const place of [configuration, '/etc/idunn']) {
    if (await holdsFleet(place)) return answered({ directory: place, by: place });
  }
  return declined(
    'fleet-not-found',
    `no fleet: neither --fleet nor IDUNN_FLEET is given, no ${POINTER_FILE} is in ${directory} or above, ` +
      `and no ${FLEET_FILE} is in ${configuration} or /etc/idunn`,
    'Name the directory that holds fleet.toml with --fleet or IDUNN_FLEET.',
  );
}

async function named(directory: string, by: string): Promise<Answer<Located>> {
  if (await holdsFleet(directory)) return answered({ directory, by });
  return declined(
    'fleet-not-found',
    `${by} names ${directory}, and there is no ${FLEET_FILE} in it`,
    `Name a directory that holds ${FLEET_FILE}.`,
  );
}

async function followPointer(pointer: string): Promise<Answer<Located>> {
  const fleet = await readField(pointer, (file) => file['fleet']);
  if (typeof fleet !== 'string') {
    return declined(
      'fleet-pointer-invalid',
      `${pointer} has no line fleet = "DIRECTORY"`,
      'Write the line, or name the fleet with --fleet.',
    );
  }
  const directory = resolve(dirname(pointer), fleet);
  if (await holdsFleet(directory)) return answered({ directory, by: pointer });
  return declined(
    'fleet-not-found',
    `${pointer} names ${directory}, and there is no ${FLEET_FILE} in it`,
    'Make the fleet (in the repository: npm run quickstart), or name another one with --fleet.',
  );
}

async function nearestPointer(from: string): Promise<string | null> {
  for (let at = resolve(from); ; at = dirname(at)) {
    const pointer = join(at, POINTER_FILE);
    if ((await readText(pointer)) !== null) return pointer;
    if (dirname(at) === at) return null;
  }
}

const holdsFleet = async (directory: string): Promise<boolean> =>
  (await readText(join(directory, FLEET_FILE))) !== null;

/** One field of a TOML file, `undefined` when the file is no TOML or has no such field. */
export async function readField(
  file: string,
  pick: (value: Readonly<Record<string, unknown>>) => unknown,
): Promise<unknown> {
  try {
    return pick(parse((await readText(file)) ?? ''));
  } catch {
    return undefined;
  }
}

async function readText(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw error;
  }
}
