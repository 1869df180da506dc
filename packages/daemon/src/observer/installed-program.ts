import { copyFile, mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { digestJson, type Outcome, ok, refusal, refused } from '@idunn/kernel';

/** The packages that the observer program consists of; it needs nothing else. */
const PACKAGES = ['@idunn/observer', '@idunn/readiness', '@idunn/kernel', 'zod', 'canonicalize'];

/** Where the program starts, below the assembled directory. */
export const OBSERVER_ENTRY = 'node_modules/@idunn/observer/dist/main.js';

interface Part {
  /** Below the assembled directory. */
  readonly path: string;
  readonly from: string;
  readonly size: number;
  readonly modifiedMs: number;
}

/**
 * Brings the installed bytes of the observer together in a directory that holds exactly them, so that it is sealed
 * like any other program. The directory is named by what it was made from: the same installation gives the same one.
 * Two daemons of one fleet cannot be here at once; the store's lock is held.
 */
export async function assembleObserver(cache: string): Promise<Outcome<string>> {
  const parts: Part[] = [];
  for (const name of PACKAGES) {
    const root = await packageRoot(name);
    const found = await partsOf(root, join('node_modules', name));
    if (!found.some(({ path }) => path.endsWith('.js'))) {
      return refused(
        refusal(
          'helper-start-failed',
          `The package ${name} in ${root} is not built, so the observer cannot be sealed.`,
          {
            remedy: 'Build Idunn first: npm run build.',
          },
        ),
      );
    }
    parts.push(...found);
  }
  const name = digestJson(parts.map(({ path, size, modifiedMs }) => [path, size, modifiedMs])).slice(7, 23);
  const installed = join(cache, 'installed');
  const directory = join(installed, `observer-${name}`);
  if (await exists(directory)) return ok(directory);
  const draft = join(installed, 'observer.draft');
  await rm(draft, { recursive: true, force: true });
  for (const { path, from } of parts) {
    await mkdir(dirname(join(draft, path)), { recursive: true, mode: 0o700 });
    await copyFile(from, join(draft, path));
  }
  await rename(draft, directory);
  return ok(directory);
}

/** The directory that holds the package's own package.json. */
async function packageRoot(name: string): Promise<string> {
  for (let at = dirname(fileURLToPath(import.meta.resolve(name))); ; at = dirname(at)) {
    const manifest = await readFile(join(at, 'package.json'), 'utf8').catch(() => null);
    if (manifest !== null && (JSON.parse(manifest) as { name?: string }).name === name) return at;
    if (dirname(at) === at) throw new Error(`the package ${name} has no package.json above its entry`);
  }
}

/** What runs: modules and manifests, without types, maps, sources and tests. */
const RUNS = /(?:\.js|\.cjs|\.mjs|package\.json)$/;
const NOT_RUN = /\.test\.|\/(?:testing|node_modules|src)\//;

async function partsOf(root: string, into: string): Promise<Part[]> {
  const files = await readdir(root, { recursive: true, withFileTypes: true });
  const parts: Part[] = [];
  for (const file of files) {
    const from = join(file.parentPath, file.name);
    const below = relative(root, from);
    if (!file.isFile() || !RUNS.test(below) || NOT_RUN.test(`/${below}`)) continue;
    const { size, mtimeMs } = await stat(from);
    parts.push({ path: join(into, below), from, size, modifiedMs: mtimeMs });
  }
  return parts.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
