import { readdir, readFile, readlink } from 'node:fs/promises';
import { statFields } from './process.ts';

/** Who listens where a program was found to be well. */
export type Listener =
  | { readonly kind: 'own' }
  /** Somebody whom this program did not start; `who` in words. */
  | { readonly kind: 'other'; readonly who: string }
  /** /proc does not say. */
  | { readonly kind: 'unknown' };

/** The program that is to listen: its first process, and the activation that all its processes carry. */
export interface Program {
  readonly pid: number;
  readonly activation: string;
}

/** A row of /proc/net/tcp whose fourth field says so is a socket that listens. */
const LISTENS = '0A';
/** Processes that lie between a program's first and the one that listens. */
const ANCESTORS_LIMIT = 64;

/**
 * Whether the socket that listens on a port of this machine is the program's own: a port that was free when it was
 * picked may be somebody else's by now, whose answers would prove what never began (I5, I7). Own is what its first
 * process, a descendant, a carrier of its activation or a member of its control group holds.
 */
export async function listenerOf(program: Program, port: number): Promise<Listener> {
  const sockets = await listening(port);
  if (sockets.size === 0) return { kind: 'unknown' };
  if (await holds(program.pid, sockets)) return { kind: 'own' };
  const foreign = [...sockets.values()].find((uid) => isForeign(uid));
  if (foreign !== undefined) return { kind: 'other', who: `a process of user ${foreign}` };
  let other: number | null = null;
  for (const pid of await processes()) {
    if (!(await holds(pid, sockets))) continue;
    if (await belongs(pid, program)) return { kind: 'own' };
    other = pid;
  }
  return other === null ? { kind: 'unknown' } : { kind: 'other', who: `process ${other}, which is none of it` };
}

/** Without root nothing that this user starts belongs to another. */
const isForeign = (uid: number): boolean => {
  const own = process.geteuid?.() ?? 0;
  return own !== 0 && uid !== own;
};

/** The sockets that listen on the port, by inode, with the user of each. */
async function listening(port: number): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  for (const table of ['tcp', 'tcp6']) {
    for (const row of (await text(`/proc/net/${table}`)).split('\n').slice(1)) {
      const [, local = '', , state, , , , uid, , inode = ''] = row.trim().split(/\s+/);
      if (state !== LISTENS || Number.parseInt(local.slice(local.lastIndexOf(':') + 1), 16) !== port) continue;
      found.set(`socket:[${inode}]`, Number(uid));
    }
  }
  return found;
}

async function holds(pid: number, sockets: ReadonlyMap<string, number>): Promise<boolean> {
  const directory = `/proc/${pid}/fd`;
  for (const descriptor of await readdir(directory).catch(() => [])) {
    if (sockets.has(await readlink(`${directory}/${descriptor}`).catch(() => ''))) return true;
  }
  return false;
}

async function belongs(pid: number, program: Program): Promise<boolean> {
  const environment = await text(`/proc/${pid}/environ`);
  if (environment.split('\0').includes(`IDUNN_ACTIVATION=${program.activation}`)) return true;
  const group = await text(`/proc/${program.pid}/cgroup`);
  const isGrouped = group !== '' && group !== (await text('/proc/self/cgroup'));
  if (isGrouped && group === (await text(`/proc/${pid}/cgroup`))) return true;
  let above = pid;
  for (let steps = 0; steps < ANCESTORS_LIMIT && above > 1; steps += 1) {
    if (above === program.pid) return true;
    above = await parentOf(above);
  }
  return false;
}

const parentOf = async (pid: number): Promise<number> => Number(statFields(await text(`/proc/${pid}/stat`))[1] ?? 0);

const processes = async (): Promise<readonly number[]> =>
  (await readdir('/proc')).filter((name) => /^[0-9]+$/.test(name)).map(Number);

/** Nothing of a process that is gone, or that is not for us to see. */
const text = (file: string): Promise<string> => readFile(file, 'latin1').catch(() => '');
