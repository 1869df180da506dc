import { access, lstat, readdir, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type DoctorCheck, type FleetDirectories, operatorSocket, SOCKET_PATH_LIMIT_BYTES } from '@idunn/client';
import { bad, good, note, unknown, why } from './check.ts';

/** The longest socket path below the runtime directory is an activation's channel. */
const LONGEST_SOCKET = join('a', '0'.repeat(16), 'channel.sock');

export function socketPaths({ runtime }: FleetDirectories): DoctorCheck {
  const longest = Math.max(
    ...[operatorSocket({ runtime }), join(runtime, LONGEST_SOCKET)].map((path) => Buffer.byteLength(path)),
  );
  return longest <= SOCKET_PATH_LIMIT_BYTES
    ? good('socket paths', `the longest has ${longest} of ${SOCKET_PATH_LIMIT_BYTES} bytes`)
    : bad(
        'socket paths',
        `the longest has ${longest} bytes, the system allows ${SOCKET_PATH_LIMIT_BYTES}`,
        'Name a shorter runtime directory in fleet.toml.',
      );
}

/** systemd wipes /run/user/UID when the user's last session ends, unless the user lingers. */
export async function linger({ runtime }: FleetDirectories, user: { name: string; uid: number }): Promise<DoctorCheck> {
  if (!`${runtime}/`.startsWith(`/run/user/${user.uid}/`))
    return good('runtime directory', `${runtime} outlives a log-out`);
  const lingers = await access(`/var/lib/systemd/linger/${user.name}`).then(
    () => true,
    () => false,
  );
  return lingers
    ? good('runtime directory', `${runtime}, and ${user.name} lingers`)
    : bad(
        'runtime directory',
        `${runtime} is wiped when ${user.name} logs out`,
        `Run loginctl enable-linger ${user.name}, or name another runtime directory in fleet.toml.`,
      );
}

const GIB_BYTES = 1024 ** 3;
const MIB_BYTES = 1024 ** 2;
/** What is little room: releases and records grow; a log, and the files of a launch, need little. */
const LOW_BYTES = { state: GIB_BYTES, releases: GIB_BYTES, logs: 64 * MIB_BYTES, runtime: 4 * MIB_BYTES } as const;

export async function diskSpace(name: keyof typeof LOW_BYTES, directory: string): Promise<DoctorCheck> {
  const check = `disk of ${name}`;
  try {
    const { bavail, bsize } = await statfs(await nearestExisting(directory));
    const free = bavail * bsize;
    const room = free < GIB_BYTES ? `${Math.floor(free / MIB_BYTES)} MiB` : `${(free / GIB_BYTES).toFixed(1)} GiB`;
    const text = `${room} free for ${directory}`;
    return free < LOW_BYTES[name]
      ? bad(check, text, 'Free some space, or name a directory on another disk in fleet.toml.')
      : good(check, text);
  } catch (error) {
    return unknown(check, why(error));
  }
}

async function nearestExisting(directory: string): Promise<string> {
  for (let at = directory; ; at = dirname(at)) {
    const exists = await access(at).then(
      () => true,
      () => false,
    );
    if (exists || dirname(at) === at) return at;
  }
}

/** Every private key is a file that only its owner reads. */
export async function keyPermissions({ state }: FleetDirectories): Promise<DoctorCheck> {
  const directory = join(state, 'keys');
  try {
    const files = await readdir(directory, { recursive: true, withFileTypes: true });
    const keys = files
      .filter((file) => file.isFile() && !file.name.endsWith('.json'))
      .map((file) => join(file.parentPath, file.name));
    const open: string[] = [];
    for (const key of keys) if (((await lstat(key)).mode & 0o077) !== 0) open.push(key);
    if (open.length === 0) return good('key files', `${keys.length} in ${directory}, each for its owner only`);
    return bad(
      'key files',
      `others can read ${open.join(', ')}`,
      `Run chmod 600 on each, and replace a key that may have been read.`,
    );
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return note('key files', 'none made yet');
    return unknown('key files', why(error));
  }
}
