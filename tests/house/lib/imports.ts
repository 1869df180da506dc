import {
  type Fault,
  type Manifest,
  packageOf,
  type Repository,
  resolveRelative,
  type SourceFile,
} from './repository.ts';
import { type Import, lineOf } from './scan.ts';

/** Which rooms each room may import (design, "The house"). `inFolder` narrows a permission to one folder of `src`. */
export const ROOMS: Readonly<
  Record<string, { readonly may: readonly string[]; readonly inFolder?: Readonly<Record<string, string>> }>
> = {
  kernel: { may: [] },
  release: { may: ['kernel'] },
  readiness: { may: ['kernel'] },
  authority: { may: ['kernel', 'release', 'readiness'] },
  ladder: { may: ['kernel'] },
  workload: { may: [] },
  observer: { may: ['kernel', 'readiness'] },
  attendant: { may: ['kernel', 'workload'] },
  drivers: {
    may: ['kernel', 'release', 'readiness', 'authority', 'ladder'],
    inFolder: { client: 'ladder-idunn' },
  },
  client: { may: ['kernel'] },
  daemon: {
    may: [
      'kernel',
      'release',
      'readiness',
      'authority',
      'ladder',
      'workload',
      'observer',
      'attendant',
      'drivers',
      'client',
    ],
  },
  cli: { may: ['kernel', 'authority', 'client', 'ladder'], inFolder: { drivers: 'ladder-idunn' } },
  web: { may: ['client'] },
  simulator: { may: ['kernel', 'release', 'readiness', 'authority'] },
};

/** Packages whose programs a room starts: named in its manifest and resolved, never imported. */
export const STARTS: Readonly<Record<string, readonly string[]>> = {
  cli: ['@idunn/daemon'],
  daemon: ['@idunn/observer'],
};

const SCOPE = '@idunn/';
const roomOf = (packageName: string): string => packageName.slice(SCOPE.length);
const place = (file: SourceFile, at: number): string => `${file.path}:${lineOf(file.text, at)}`;

/** Every import that the house does not allow. */
export function importFaults(repository: Repository): readonly Fault[] {
  return [...repository.files.values()].flatMap((file) => [
    ...file.imports.flatMap((one) => {
      const what = wrongImport(repository, file, one);
      return what === null ? [] : [{ rule: 'import', where: place(file, one.at), what }];
    }),
    ...opaqueImports(file),
  ]);
}

function wrongImport(repository: Repository, file: SourceFile, { specifier, how }: Import): string | null {
  if (specifier.startsWith('.')) return wrongRelative(repository, file, specifier);
  // The import map of a program that runs in a repository of its own: an example, or what a proof deploys.
  if (specifier.startsWith('#') && /^examples\/|^proofs\/lib\/[^/]+\/app\//.test(file.path)) return null;
  const name = packageOf(specifier);
  if (name === null) return null;
  if (name.startsWith(SCOPE)) return wrongRoom(repository, file, specifier, name, how);
  // What product code may take is its manifest's own question; tests may also use the repository's tools.
  const named = { ...repository.root.devDependencies, ...runtimeDependencies(repository.rooms.get(file.room ?? '')) };
  return file.role === 'product' || name in named ? null : `${name} is in no manifest`;
}

function wrongRelative(repository: Repository, file: SourceFile, specifier: string): string | null {
  const target = resolveRelative(file.path, specifier);
  const found = repository.files.get(target);
  if (found === undefined) return specifier.endsWith('.json') ? null : `${specifier} names no source file`;
  if (found.room !== file.room && found.room !== null) return `${specifier} reaches into ${found.room}`;
  if (file.room !== null && found.room === null) return `${specifier} leaves the package`;
  return file.role === 'product' && found.role !== 'product' ? `${specifier} is for tests only` : null;
}

function wrongRoom(
  repository: Repository,
  file: SourceFile,
  specifier: string,
  name: string,
  how: Import['how'],
): string | null {
  const manifest = repository.rooms.get(roomOf(name));
  if (manifest === undefined) return `${name} is no package of this repository`;
  const door = `.${specifier.slice(name.length)}`;
  if (!Object.keys(manifest.exports ?? {}).includes(door)) return `${specifier} goes past the front door of ${name}`;
  if (door === './testing' && file.role === 'product') return `${specifier} is for tests only`;
  if (file.room === null || file.room === roomOf(name)) return null;
  const rules = ROOMS[file.room];
  if (rules === undefined) return `package ${file.room} is not in the table`;
  if (rules.may.includes(roomOf(name))) return null;
  if (how === 'resolve' && (STARTS[file.room] ?? []).includes(name)) return null;
  const folder = rules.inFolder?.[roomOf(name)];
  if (folder !== undefined && file.path.startsWith(`packages/${file.room}/src/${folder}/`)) return null;
  return `${file.room} may not import ${roomOf(name)}`;
}

/** An import that cannot be read off the source cannot be held to the table. */
function opaqueImports(file: SourceFile): readonly Fault[] {
  const opaque = /\bimport\s*\(\s*(?!['"\s])|\brequire\s*\(/g;
  if (file.role !== 'product') return [];
  return [...file.code.matchAll(opaque)].map((match) => ({
    rule: 'import',
    where: place(file, match.index),
    what: 'a module must be named by a literal, in an import',
  }));
}

const runtimeDependencies = (manifest: Manifest | undefined): Readonly<Record<string, string>> => ({
  ...manifest?.dependencies,
  ...manifest?.peerDependencies,
  ...manifest?.optionalDependencies,
});

/** A room's manifest names exactly what its product code imports, each in one exact version. */
export function manifestFaults(repository: Repository): readonly Fault[] {
  return [...repository.rooms].flatMap(([room, manifest]) => {
    const where = `packages/${room}/package.json`;
    const fault = (what: string): Fault => ({ rule: 'manifest', where, what });
    const named = runtimeDependencies(manifest);
    const imported = new Set(
      [...repository.files.values()]
        .filter((file) => file.room === room && file.role === 'product')
        .flatMap((file) => file.imports.flatMap(({ specifier }) => packageOf(specifier) ?? []))
        .filter((name) => name !== manifest.name),
    );
    return [
      ...[...imported].filter((name) => !(name in named)).map((name) => fault(`${name} is imported and not named`)),
      ...Object.keys(named)
        .filter((name) => !imported.has(name) && !(STARTS[room] ?? []).includes(name))
        .map((name) => fault(`${name} is named and not imported`)),
      ...Object.entries(named)
        .filter(([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))
        .map(([name, version]) => fault(`${name} ${version} is not an exact version`)),
    ];
  });
}

/** Circles between packages, and between the files of one package. */
export function cycleFaults(repository: Repository): readonly Fault[] {
  const files = [...repository.files.values()].filter((file) => file.role === 'product');
  const between = new Map<string, Set<string>>();
  const within = new Map<string, Set<string>>();
  for (const file of files) {
    within.set(file.path, new Set());
    const rooms = between.get(file.room ?? '') ?? new Set();
    between.set(file.room ?? '', rooms);
    for (const { specifier } of file.imports.filter(({ how }) => how !== 'resolve')) {
      const name = packageOf(specifier);
      if (name?.startsWith(SCOPE) === true && roomOf(name) !== file.room) rooms.add(roomOf(name));
      else if (specifier.startsWith('.')) within.get(file.path)?.add(resolveRelative(file.path, specifier));
    }
  }
  return [
    ...cyclesOf(between).map((cycle) => ({ rule: 'cycle', where: 'packages', what: cycle.join(' → ') })),
    ...cyclesOf(within).map((cycle) => ({ rule: 'cycle', where: cycle[0] ?? '', what: cycle.join(' → ') })),
  ];
}

/** One circle for each edge that closes one in a depth-first walk. */
function cyclesOf(graph: ReadonlyMap<string, ReadonlySet<string>>): readonly (readonly string[])[] {
  const done = new Set<string>();
  const path: string[] = [];
  const cycles: string[][] = [];
  const visit = (node: string): void => {
    const start = path.indexOf(node);
    if (start >= 0) cycles.push([...path.slice(start), node]);
    if (start >= 0 || done.has(node)) return;
    path.push(node);
    for (const next of graph.get(node) ?? []) visit(next);
    path.pop();
    done.add(node);
  };
  for (const node of graph.keys()) visit(node);
  return cycles;
}
