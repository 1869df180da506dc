import { lstat, readlink, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { PLACES } from './places.ts';

/** One thing that a sandbox shows. */
export type Shown =
  | { readonly kind: 'read-only'; readonly source: string; readonly destination: string }
  | { readonly kind: 'link'; readonly target: string; readonly destination: string }
  /** Something of the authority's that a mount would show: covered. */
  | { readonly kind: 'cover'; readonly what: 'directory' | 'file'; readonly destination: string };

/** Links into /usr on most systems, directories of their own on others. */
const TOP = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];

/** What programs of the system read of /etc; nothing that names people, machines or secrets. */
const SETTINGS = [
  '/etc/alternatives',
  '/etc/ca-certificates',
  '/etc/ld.so.cache',
  '/etc/ld.so.conf',
  '/etc/ld.so.conf.d',
  '/etc/localtime',
  '/etc/mime.types',
  '/etc/nsswitch.conf',
  '/etc/pki/tls/certs',
  '/etc/pki/ca-trust/extracted',
  '/etc/protocols',
  '/etc/services',
  '/etc/ssl/certs',
  '/etc/ssl/openssl.cnf',
];

/** The system's programs and libraries, as this machine has them. */
export async function systemView(): Promise<readonly Shown[]> {
  const shown: Shown[] = [readOnly('/usr')];
  for (const path of TOP) {
    const found = await lstat(path).catch(() => null);
    if (found?.isSymbolicLink()) shown.push({ kind: 'link', target: await readlink(path), destination: path });
    else if (found?.isDirectory()) shown.push(readOnly(path));
  }
  for (const path of SETTINGS) {
    const real = await realpath(path).catch(() => null);
    if (real !== null) shown.push(readOnly(path, real));
  }
  return shown;
}

const readOnly = (destination: string, source = destination): Shown => ({ kind: 'read-only', source, destination });

/** Where a program of the host is found inside; with the one file that has to be shown for it, if no mount does. */
export interface PlacedProgram {
  readonly path: string;
  readonly shown: readonly Shown[];
}

/** `path` is the host's, as the binding admits it. */
export async function placeProgram(name: string, path: string, view: readonly Shown[]): Promise<PlacedProgram> {
  const real = await realpath(path);
  const behind = (file: string) =>
    view.flatMap((mount) => (mount.kind === 'read-only' && isBelow(file, mount.source) ? [mount] : [])).at(-1);
  const visible = behind(real) !== undefined;
  if (visible && view.some((shown) => shown.kind === 'link' && isBelow(path, shown.destination))) {
    return { path, shown: [] };
  }
  const mount = behind(path);
  if (visible && mount !== undefined) {
    return { path: join(mount.destination, path.slice(mount.source.length)), shown: [] };
  }
  const destination = `${PLACES.programs}/${name}`;
  return { path: destination, shown: [readOnly(destination, real)] };
}

/** Covers everything hidden that a mount would show: the authority's own directories, states and secrets (I11). */
export async function covers(shown: readonly Shown[], hidden: readonly string[]): Promise<readonly Shown[]> {
  const found: Shown[] = [];
  for (const path of new Set(hidden)) {
    const real = await realpath(path).catch(() => null);
    if (real === null) continue;
    const what = (await stat(real)).isDirectory() ? 'directory' : 'file';
    for (const mount of shown) {
      if (mount.kind !== 'read-only') continue;
      const source = await realpath(mount.source).catch(() => null);
      if (source === null || !isBelow(real, source) || real === source) continue;
      found.push({ kind: 'cover', what, destination: join(mount.destination, real.slice(source.length)) });
    }
  }
  return found;
}

/** Whether `path` is `directory` or lies in it; both without links and dots. */
export const isBelow = (path: string, directory: string): boolean =>
  path === directory || path.startsWith(directory === '/' ? '/' : `${directory}/`);
