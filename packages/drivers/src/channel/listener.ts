import { readdir, readFile, readlink } from 'node:fs/promises';
import { sharedRead } from '../process/shared-read.ts';

/** Who listens on a path: nobody, this very process, or another one. */
export type ListenerOwner = 'nobody' | 'own' | 'foreign';

/** `__SO_ACCEPTCON` of /proc/net/unix: the socket listens. */
const ACCEPTS_CONNECTIONS = 0x10000;

/** Inodes of the sockets that listen, by the path that they were bound to. */
export function parseListeners(text: string): ReadonlyMap<string, readonly string[]> {
  const listeners = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const fields = /^\S+ \S+ \S+ (\S+) \S+ \S+ +(\d+) (.+)$/.exec(line);
    if (fields === null) continue;
    const [, flags = '0', inode = '', path = ''] = fields;
    if ((Number.parseInt(flags, 16) & ACCEPTS_CONNECTIONS) === 0) continue;
    listeners.set(path, [...(listeners.get(path) ?? []), inode]);
  }
  return listeners;
}

const listeners = sharedRead(async () => parseListeners(await readFile('/proc/net/unix', 'utf8')));

/**
 * Whether what listens on a socket path is among the process's own descriptors (section 6: the grant reaches one
 * process). Every listener on the path must be: one that was unlinked and replaced still shows.
 */
export async function listenerOwner(pid: number, path: string): Promise<ListenerOwner> {
  const inodes = (await listeners()).get(path) ?? [];
  if (inodes.length === 0) return 'nobody';
  const own = new Set(await socketsOf(pid));
  return inodes.every((inode) => own.has(inode)) ? 'own' : 'foreign';
}

/** Inodes of the sockets that a process has open; none when it is gone. */
async function socketsOf(pid: number): Promise<readonly string[]> {
  const directory = `/proc/${pid}/fd`;
  const names = await readdir(directory).catch(() => []);
  const links = await Promise.all(names.map((name) => readlink(`${directory}/${name}`).catch(() => '')));
  return links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []);
}
