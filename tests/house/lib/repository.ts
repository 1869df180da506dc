import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { type Import, importsOf, type Scanned, scan } from './scan.ts';

/** What a file is for decides which rules hold for it. */
export type Role = 'product' | 'test' | 'testing' | 'script';

export interface SourceFile extends Scanned {
  /** From the repository's root, with slashes. */
  readonly path: string;
  /** The folder under `packages/`, or `null` outside. */
  readonly room: string | null;
  readonly role: Role;
  readonly text: string;
  readonly imports: readonly Import[];
}

export interface Manifest {
  readonly name: string;
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** The sources and manifests that the house's rules are held against. */
export interface Repository {
  readonly root: Manifest;
  /** By folder under `packages/`. */
  readonly rooms: ReadonlyMap<string, Manifest>;
  readonly files: ReadonlyMap<string, SourceFile>;
}

/** One thing that a rule forbids, where it stands. */
export interface Fault {
  readonly rule: string;
  readonly where: string;
  readonly what: string;
}

export const ROOT = join(import.meta.dirname, '../../..');
const FOLDERS = ['packages', 'tests', 'proofs', 'bench', 'examples', 'scripts', '.ci'];
const SOURCE = /\.(?:ts|mts|mjs|js|tsx)$/;

/** Builds a repository from texts by path; `package.json` files are manifests, sources are scanned. */
export function repositoryOf(texts: ReadonlyMap<string, string>): Repository {
  const manifest = (path: string): Manifest => JSON.parse(texts.get(path) ?? '{}') as Manifest;
  const manifests = [...texts.keys()].flatMap((path) => /^packages\/([^/]+)\/package\.json$/.exec(path)?.[1] ?? []);
  return {
    root: manifest('package.json'),
    rooms: new Map(manifests.map((room) => [room, manifest(`packages/${room}/package.json`)])),
    files: new Map(
      [...texts].filter(([path]) => SOURCE.test(path)).map(([path, text]) => [path, sourceFile(path, text)]),
    ),
  };
}

export function sourceFile(path: string, text: string): SourceFile {
  const scanned = scan(text);
  const room = /^packages\/([^/]+)\//.exec(path)?.[1] ?? null;
  return { path, room, role: roleOf(path), text, ...scanned, imports: importsOf(scanned) };
}

function roleOf(path: string): Role {
  if (/\.test\.m?ts$/.test(path)) return 'test';
  if (/\/testing\//.test(path) || path.startsWith('tests/')) return 'testing';
  return path.startsWith('packages/') ? 'product' : 'script';
}

/** Reads the repository at `root` from the disk. */
export function readRepository(root: string = ROOT): Repository {
  const texts = new Map<string, string>();
  const read = (path: string): void => void texts.set(path, readFileSync(join(root, path), 'utf8'));
  const walk = (folder: string): void => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = posix.join(folder, entry.name);
      if (entry.isDirectory() && !['node_modules', 'dist', '.git'].includes(entry.name)) walk(path);
      else if (entry.isFile() && (SOURCE.test(entry.name) || entry.name === 'package.json')) read(path);
    }
  };
  const present = new Set(readdirSync(root));
  for (const folder of FOLDERS.filter((name) => present.has(name))) walk(folder);
  read('package.json');
  return repositoryOf(texts);
}

/** The file that a relative specifier names, whether it is there or not. */
export const resolveRelative = (from: string, specifier: string): string =>
  posix.normalize(posix.join(posix.dirname(from), specifier));

/** The package of a bare specifier: `@scope/name` or `name`; `null` for Node's own and relative ones. */
export function packageOf(specifier: string): string | null {
  if (/^(?:node:|\.|\/|file:)/.test(specifier)) return null;
  return /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? null;
}

/** The faults as lines for people, sorted. */
export const linesOf = (faults: readonly Fault[]): readonly string[] =>
  faults.map(({ rule, where, what }) => `${where}: ${rule}: ${what}`).toSorted();
