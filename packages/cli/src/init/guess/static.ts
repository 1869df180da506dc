import { type Facts, firstTracked, textOf } from '../facts.ts';
import type { BuildStep, Launch } from '../model.ts';
import { STATIC_SERVER } from './static-server.ts';

const BUILD_MS = 600_000;
const PLACES = ['public', 'site', 'dist', 'build', '_site', 'www', 'docs'];
const SERVER = 'deployment/idunn/serve.mjs';

/** A site of files alone, committed or built. Until Idunn publishes such trees itself, a small server of Node does. */
export function guessStatic(facts: Facts): Launch | null {
  const built = buildsSite(facts);
  const index = firstTracked(facts, ['index.html', ...PLACES.map((place) => `${place}/index.html`)]);
  if (built === null && index === null) return null;
  const path = built?.output ?? (index?.includes('/') ? (index.split('/')[0] ?? '.') : '.');
  return {
    kind: 'static',
    name: '',
    steps: built?.steps ?? [],
    artifacts: [
      { id: 'site', path, kind: 'directory' },
      { id: 'server', path: SERVER, kind: 'file' },
    ],
    service: { artifact: 'server', path: null, interpreter: 'node' },
    args: [{ slot: 'artifact:site' }],
    variables: [],
    files: [{ path: SERVER, text: STATIC_SERVER }],
    guesses: [
      {
        what: `it is a site of files, in ${path === '.' ? 'the repository itself' : `${path}/`}`,
        because: built?.because ?? `${index} is committed`,
      },
      {
        what: `${SERVER} serves it, a server of its own without dependencies`,
        because: 'static releases, which need no process, come in a later version of Idunn',
      },
    ],
    doubts:
      path === '.'
        ? [
            {
              what: 'the whole repository would be served, whatever is committed in it',
              remedy: 'Move the pages into public/ and run idunn init again, unless everything may be seen.',
            },
          ]
        : [],
  };
}

/** Site builders, and where each leaves its site. */
const BUILDERS: Readonly<Record<string, string>> = {
  astro: 'dist',
  vite: 'dist',
  '@11ty/eleventy': '_site',
  vitepress: '.vitepress/dist',
};

function buildsSite(facts: Facts): { steps: readonly BuildStep[]; output: string; because: string } | null {
  const text = textOf(facts, 'package.json');
  if (text === null) return null;
  const builder = Object.keys(BUILDERS).find((name) => text.includes(`"${name}"`));
  const builds = /"build"\s*:/.test(text) && !/"start"\s*:\s*"(?:[A-Z_]+=\S+ )*node /.test(text);
  if (builder === undefined || !builds) return null;
  return {
    steps: [
      { id: 'install', stage: 'build', argv: ['npm', 'ci'], timeoutMs: BUILD_MS },
      { id: 'build', stage: 'build', argv: ['npm', 'run', 'build'], timeoutMs: BUILD_MS },
    ],
    output: BUILDERS[builder] ?? 'dist',
    because: `package.json has a build script and uses ${builder}`,
  };
}
