import { evidence, type Facts, firstTracked, isTracked, sources, textOf } from '../facts.ts';
import type { BuildStep, Doubt, Guess, Launch, Variable } from '../model.ts';
import { plainWords } from './plain-words.ts';

const ENTRIES = [
  'server.js',
  'server.mjs',
  'index.js',
  'index.mjs',
  'app.js',
  'main.js',
  'main.mjs',
  'src/server.js',
  'src/index.js',
  'src/main.js',
  'src/app.js',
  'server.ts',
  'src/server.ts',
  'src/index.ts',
  'src/main.ts',
];
const BUILD_MS = 600_000;

interface Manifest {
  readonly name?: unknown;
  readonly main?: unknown;
  readonly bin?: unknown;
  readonly scripts?: Readonly<Record<string, unknown>>;
  readonly engines?: Readonly<Record<string, unknown>>;
  readonly dependencies?: Readonly<Record<string, unknown>>;
  readonly devDependencies?: Readonly<Record<string, unknown>>;
}

/** A program of Node: by its package.json, or by a source file with a usual name. `null` when it is none. */
export function guessNode(facts: Facts): Launch | null {
  const manifest = manifestOf(facts);
  const start = manifest === null ? null : startOf(facts, manifest);
  const bare = firstTracked(facts, ENTRIES);
  const entry = start ?? (bare === null ? null : { path: bare, args: [], variables: [], because: `${bare} is there` });
  if (entry === null) return null;
  const build = manifest === null ? { steps: [], guesses: [], doubts: [] } : buildOf(facts, manifest);
  return {
    kind: 'node',
    name: typeof manifest?.name === 'string' ? manifest.name : '',
    steps: build.steps,
    artifacts: [{ id: 'app', path: '.', kind: 'directory' }],
    service: { artifact: 'app', path: entry.path, interpreter: 'node' },
    args: entry.args,
    variables: [
      ...entry.variables,
      ...(entry.variables.some(({ name }) => name === 'NODE_ENV')
        ? []
        : [{ name: 'NODE_ENV', value: 'production', why: 'usual for a program that serves' }]),
    ],
    files: [],
    guesses: [{ what: `node runs ${entry.path}`, because: entry.because }, ...build.guesses, ...engine(manifest)],
    doubts: build.doubts,
  };
}

function manifestOf(facts: Facts): Manifest | null {
  const text = textOf(facts, 'package.json');
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : null;
  } catch {
    return null;
  }
}

interface Entry {
  readonly path: string;
  readonly args: readonly string[];
  readonly variables: readonly Variable[];
  readonly because: string;
}

/** `scripts.start` when it is `node FILE …`, else `main`, else `bin`. */
function startOf(facts: Facts, manifest: Manifest): Entry | null {
  const script = manifest.scripts?.['start'];
  const words = typeof script === 'string' ? plainWords(script) : null;
  if (words !== null && words.argv[0] === 'node') {
    const flags = words.argv.slice(1).findIndex((word) => !word.startsWith('-'));
    const file = words.argv[flags + 1];
    if (flags !== -1 && file !== undefined) {
      const options = words.argv.slice(1, flags + 1).join(' ');
      const why = `scripts.start of package.json is "${String(script)}"`;
      return {
        path: relative(file),
        args: words.argv.slice(flags + 2),
        variables: [
          ...words.variables.map(([name, value]) => ({ name, value, why })),
          ...(options === '' ? [] : [{ name: 'NODE_OPTIONS', value: options, why }]),
        ],
        because: why,
      };
    }
  }
  const named = [manifest.main, ...binaries(manifest.bin)].find((path) => typeof path === 'string');
  if (typeof named !== 'string') return null;
  const path = relative(named);
  const made = !isTracked(facts, path) && typeof manifest.scripts?.['build'] === 'string';
  if (!isTracked(facts, path) && !made) return null;
  return {
    path,
    args: [],
    variables: [],
    because: `package.json names it as ${named === manifest.main ? 'main' : 'bin'}`,
  };
}

const binaries = (bin: unknown): unknown[] => (typeof bin === 'object' && bin !== null ? Object.values(bin) : [bin]);
const relative = (path: string): string => path.replace(/^\.\//, '');

/** Dependencies are installed from the lockfile, then built, tested, and stripped of what only the build needs. */
function buildOf(facts: Facts, manifest: Manifest): { steps: BuildStep[]; guesses: Guess[]; doubts: Doubt[] } {
  const steps: BuildStep[] = [];
  const guesses: Guess[] = [];
  const doubts: Doubt[] = [];
  const needs = Object.keys(manifest.dependencies ?? {}).length > 0;
  const development = Object.keys(manifest.devDependencies ?? {}).length > 0;
  const build = manifest.scripts?.['build'];
  const test = manifest.scripts?.['test'];
  const builds = typeof build === 'string';
  const tests = typeof test === 'string' && !test.includes('no test specified');
  const whole = development && (builds || tests);
  const step = (id: string, argv: BuildStep['argv'], stage: BuildStep['stage'] = 'build'): void =>
    void steps.push({ id, stage, argv, timeoutMs: BUILD_MS });
  if (needs || whole) {
    const lock = firstTracked(facts, ['package-lock.json', 'npm-shrinkwrap.json']);
    step('install', whole ? ['npm', 'ci'] : ['npm', 'ci', '--omit=dev']);
    guesses.push({ what: `${steps[0]?.argv.join(' ')} brings the packages`, because: 'package.json has dependencies' });
    if (lock === null) {
      const other = firstTracked(facts, ['pnpm-lock.yaml', 'yarn.lock']);
      doubts.push({
        what: other === null ? 'no lockfile is committed, and npm ci needs one' : `the lockfile is ${other}, not npm’s`,
        remedy: other === null ? 'Run npm install and commit package-lock.json.' : 'Correct the step "install".',
      });
    }
  }
  const script = (id: string, command: string, stage: BuildStep['stage']): void => {
    const words = plainWords(command);
    // A plain `node …` needs no npm around it.
    const direct = words !== null && words.argv[0] === 'node' && words.variables.length === 0;
    step(id, direct ? ['node', ...words.argv.slice(1)] : id === 'test' ? ['npm', 'test'] : ['npm', 'run', id], stage);
    guesses.push({
      what: `step "${id}" runs ${steps.at(-1)?.argv.join(' ')}`,
      because: `package.json has scripts.${id}`,
    });
  };
  if (builds) script('build', build, 'build');
  if (tests) script('test', test, 'test');
  if (whole) step('prune', ['npm', 'prune', '--omit=dev']);
  return { steps, guesses, doubts };
}

const engine = (manifest: Manifest | null): Guess[] => {
  const wanted = manifest?.engines?.['node'];
  return typeof wanted === 'string'
    ? [{ what: `it wants Node ${wanted}`, because: 'engines.node of package.json' }]
    : [];
};

/** Whether the program signs its own presence: it imports the workload package. */
export const embedsWorkload = (facts: Facts): string | null =>
  evidence(sources(facts), /["'](?:@idunn\/workload|#workload)["']/)?.where ?? null;
