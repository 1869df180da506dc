import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import { z } from 'zod';

/** What the observer program is made of: copied as listed, `node ENTRY` runs it. */
export interface Installation {
  /** The program's entry, relative like `to`. */
  readonly entry: string;
  /** Every file that it needs at run time, in order of `to`; `from` is absolute. */
  readonly files: readonly { readonly from: string; readonly to: string }[];
}

const PROGRAM = '@idunn/observer';
const ENTRY = 'node_modules/@idunn/observer/dist/main.js';

const manifestSchema = z.looseObject({ dependencies: z.record(z.string(), z.string()).optional() });

/**
 * The observer as it is installed beside `resolveFrom`, a directory from which its packages are found as Node finds
 * them: the built files of the program and of everything that it depends on, in one `node_modules`. Refused as
 * `observer-not-built`.
 *
 * @example
 * const installation = observerInstallation(import.meta.dirname);
 */
export function observerInstallation(resolveFrom: string): Outcome<Installation> {
  const files: { from: string; to: string }[] = [];
  const due = [{ name: PROGRAM, from: resolveFrom }];
  const seen = new Set<string>();
  for (let next = due.shift(); next !== undefined; next = due.shift()) {
    const { name } = next;
    if (seen.has(name)) continue;
    seen.add(name);
    const root = packageRoot(name, next.from);
    if (root === null) return notBuilt(`package ${name} is not installed`);
    files.push(...runtimeFiles(root).map((from) => ({ from, to: `node_modules/${name}/${relative(root, from)}` })));
    const manifest = manifestSchema.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
    due.push(...Object.keys(manifest.dependencies ?? {}).map((dependency) => ({ name: dependency, from: root })));
  }
  if (!files.some(({ to }) => to === ENTRY)) return notBuilt(`${ENTRY} is missing`);
  return ok({ entry: ENTRY, files: files.sort((a, b) => (a.to < b.to ? -1 : 1)) });
}

/** The nearest installed package of that name, upwards; `null` when there is none. */
function packageRoot(name: string, from: string): string | null {
  for (let directory = from; ; directory = dirname(directory)) {
    const root = join(directory, 'node_modules', name);
    if (existsSync(join(root, 'package.json'))) return realpathSync(root);
    if (directory === dirname(directory)) return null;
  }
}

/** Modules and manifests only: no sources, types, maps, tests or documents. */
function runtimeFiles(root: string): readonly string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => isRuntime(relative(root, file)));
}

const isRuntime = (path: string): boolean =>
  path === 'package.json' ||
  (/\.(?:js|mjs)$/.test(path) && !/(?:^|\/)(?:src|golden|testing|node_modules)\//.test(path)) ||
  /^(?!.*node_modules).*\/package\.json$/.test(path);

const notBuilt = (because: string): Outcome<never> =>
  refused(refusal('observer-not-built', `The observer cannot be sealed: ${because}.`));
