import { posix } from 'node:path';
import { type Fault, type Repository, resolveRelative, type SourceFile } from './repository.ts';

/**
 * Files that nothing leads to. Product files are reached from the doors that their manifest exports, the programs in
 * `bin` and in the repository's scripts, and every module that a reached file imports or names in a literal (a worker,
 * a program that it starts, an installed one). Helpers of tests must be reached from a test.
 */
export function deadFiles(repository: Repository): readonly Fault[] {
  const files = [...repository.files.values()].filter((file) => file.room !== null);
  const doors = [...repository.rooms].flatMap(([room, manifest]) =>
    [
      ...Object.values(manifest.exports ?? {}).map((door) =>
        typeof door === 'string' ? door : (door['source'] ?? ''),
      ),
      ...Object.values(manifest.bin ?? {}),
    ].map((path) => posix.join('packages', room, path)),
  );
  const scripts = Object.values(repository.root.scripts ?? {}).flatMap((script) => script.split(/\s+/));
  const alive = reached(repository, [...doors, ...scripts]);
  const tests = files.filter((file) => file.role === 'test').map((file) => file.path);
  const aliveInTests = reached(repository, [...tests, ...doors, ...scripts]);
  return files
    .filter((file) => file.role !== 'test')
    .filter((file) => !(file.role === 'product' ? alive : aliveInTests).has(file.path))
    .map((file) => ({ rule: 'dead-file', where: file.path, what: 'nothing leads to it' }));
}

function reached(repository: Repository, from: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const visit = (path: string): void => {
    const file = repository.files.get(path);
    if (file === undefined || seen.has(path)) return;
    seen.add(path);
    for (const next of namedBy(file)) visit(next);
  };
  for (const path of from) visit(path);
  return seen;
}

/** The published form of a module of ours. */
const INSTALLED = /^node_modules\/@idunn\/([^/]+)\/dist\/(.+)\.js$/;

/** Modules by relative specifier or literal: `./thread.ts`, and `writer.ts` for a program of the tests beside it. */
function namedBy(file: SourceFile): readonly string[] {
  return file.literals
    .filter(({ text }) => /^[\w./@-]+\.(?:ts|mjs|js)$/.test(text))
    .flatMap(({ text }) => [
      resolveRelative(file.path, text),
      ...(INSTALLED.test(text) ? [text.replace(INSTALLED, 'packages/$1/src/$2.ts')] : []),
      resolveRelative(file.path, `testing/${text}`),
      ...(text.endsWith('.js') ? [resolveRelative(file.path, text.replace(/\.js$/, '.ts'))] : []),
    ]);
}
