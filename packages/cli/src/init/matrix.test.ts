import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { InitReport } from '../render/init.ts';
import { idunn, programs, repository, scratch } from '../testing/repository.ts';

interface Case {
  readonly files: Readonly<Record<string, string>>;
  readonly words?: readonly string[];
  readonly kind: InitReport['kind'];
  readonly start: InitReport['start'];
  /** What the recipe and the binding must say. */
  readonly recipe: readonly RegExp[];
  readonly binding: readonly RegExp[];
  /** What must be doubted; nothing else may be. */
  readonly doubts?: readonly RegExp[];
}

const manifest = (value: object): string => JSON.stringify({ name: '@acme/notes', ...value });

const NODE_SQLITE = `
import { createServer } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
const { PORT = '3000', DATABASE_PATH = 'notes.db' } = process.env;
const db = new DatabaseSync(DATABASE_PATH);
createServer((request, response) => response.end(request.url === '/healthz' ? 'ok' : '')).listen(PORT);
`;
const PYTHON_SQLITE = `
import os, sqlite3
from http.server import HTTPServer, BaseHTTPRequestHandler
db = sqlite3.connect(os.environ.get("DATABASE_PATH", "almanac.db"))
HEALTH = "/health"
if __name__ == "__main__":
    HTTPServer(("127.0.0.1", int(os.environ["PORT"])), BaseHTTPRequestHandler).serve_forever()
`;

const CASES: Readonly<Record<string, Case>> = {
  'Node with a SQLite file, which knows nothing of Idunn': {
    files: {
      'package.json': manifest({
        type: 'module',
        scripts: { start: 'LOG_LEVEL=info node src/server.js', test: 'node --test' },
      }),
      'src/server.js': NODE_SQLITE,
    },
    kind: 'node',
    start: 'gated',
    recipe: [
      /target = "notes"/,
      /argv = \["node", "--test"\]/,
      /path = "src\/server\.js"/,
      /kind = "http"\npath = "\/healthz"/,
      /kind = "sqlite"[^]*path = "notes\.db"/,
      /"LOG_LEVEL"/,
    ],
    binding: [
      /DATABASE_PATH = \{ slot = "state-path:data" \}/,
      /PORT = \{ slot = "endpoint-port" \}/,
      /LOG_LEVEL = "info"/,
    ],
  },
  'Node with packages, a build and a lockfile': {
    files: {
      'package.json': manifest({
        main: 'dist/main.js',
        scripts: { build: 'tsc -p .', test: 'vitest run' },
        dependencies: { fastify: '5' },
        devDependencies: { typescript: '7' },
        engines: { node: '>=22' },
      }),
      'package-lock.json': '{}',
      'src/main.ts': `fastify().get('/readyz', () => '').listen({ port: Number(process.env.PORT) });`,
    },
    kind: 'node',
    start: 'overlapping',
    recipe: [
      /argv = \["npm", "ci"\][^]*argv = \["npm", "run", "build"\][^]*argv = \["npm", "test"\][^]*"prune", "--omit=dev"/,
      /path = "dist\/main\.js"/,
      /path = "\/readyz"/,
    ],
    binding: [/allowed_programs = \{ npm = "\//, /environment = \{ PATH = "\//],
  },
  'Node that embeds @idunn/workload': {
    files: {
      'package.json': manifest({ scripts: { start: 'node main.js' }, dependencies: { '@idunn/workload': '0.1.0' } }),
      'package-lock.json': '{}',
      'main.js': `
        import { Idunn } from '@idunn/workload';
        const capabilities = { capabilities: [{ name: 'notes.api', schema: 'notes.api/2' }], stateSchema: 'notes/7' };
        serve('GET /healthz', idunn.store('world'), process.env.PORT);
      `,
    },
    kind: 'node',
    start: 'embedded',
    recipe: [
      /kind = "idunn"\npath = "\/healthz"/,
      /path = "world\.db"/,
      /schema = "notes\/7"/,
      /schema = "notes\.api\/2"/,
      /required_environment = \["NODE_ENV"\]/,
    ],
    binding: [/\[state\]/, /capabilities = \["notes\.api"\]/],
  },
  'Python on its standard library': {
    files: { 'almanac.py': PYTHON_SQLITE, 'test_almanac.py': 'import unittest\n' },
    words: ['--target', 'almanac'],
    kind: 'python',
    start: 'gated',
    recipe: [
      /interpreter = "python3"/,
      /path = "almanac\.py"/,
      /argv = \["python3", "-m", "unittest"\]/,
      /path = "\/health"/,
    ],
    binding: [/\[interpreter\.python3\]\npath = "\//, /DATABASE_PATH = \{ slot = "state-path:data" \}/],
  },
  'Flask under gunicorn': {
    files: {
      'requirements.txt': 'flask==3.0.0\ngunicorn==23.0.0\n',
      'web/site.py': 'from flask import Flask\napp = Flask(__name__)\n@app.get("/healthz")\n',
    },
    kind: 'python',
    start: 'overlapping',
    recipe: [
      /path = "bin\/gunicorn"/,
      /args = \["--chdir", \{ slot = "artifact:app" \}, "web\.site:app"\]/,
      /"pip", "install"/,
    ],
    binding: [/PYTHONPATH = \{ slot = "artifact:packages" \}/],
  },
  'Django without a server of its own': {
    files: {
      'requirements.txt': 'django==5.1\n',
      'manage.py': 'import os\n',
      'site/wsgi.py': 'application = get_wsgi_application()\n',
    },
    words: ['--target', 'site', '--health', '/up'],
    kind: 'python',
    start: 'overlapping',
    recipe: [/args = \["runserver", "--noreload", \{ slot = "endpoint-port" \}\]/],
    binding: [],
    doubts: [/server for development/],
  },
  'Go, built to one file': {
    files: {
      'go.mod': 'module example.org/acme/clock\n\ngo 1.22\n',
      'main.go':
        'package main\nimport ("net/http"; "os")\nfunc main() { http.HandleFunc("/healthz", nil); http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil) }\n',
      'main_test.go': 'package main\n',
    },
    kind: 'go',
    start: 'overlapping',
    recipe: [/target = "clock"/, /"go", "build", "-trimpath"/, /path = "out\/program"\nkind = "file"/, /"go", "test"/],
    binding: [/allowed_programs = \{ go = "\//],
  },
  'a site of files': {
    files: { 'public/index.html': '<p>hello', 'README.md': '# Site' },
    words: ['--target', 'site'],
    kind: 'static',
    start: 'overlapping',
    recipe: [
      /path = "public"/,
      /path = "deployment\/idunn\/serve\.mjs"\nkind = "file"/,
      /args = \[\{ slot = "artifact:site" \}\]/,
    ],
    binding: [/PORT = \{ slot = "endpoint-port" \}/, /\[interpreter\.node\]/],
  },
  'a program that is started like this': {
    files: { 'bot/run.py': 'print("hello")\n' },
    words: [
      '--target',
      'bot',
      '--health',
      '/',
      '--state',
      'files:journal',
      '--',
      'python3',
      'bot/run.py',
      '--port',
      '{port}',
      '{state}',
    ],
    kind: 'words',
    start: 'gated',
    recipe: [
      /path = "bot\/run\.py"/,
      /args = \["--port", \{ slot = "endpoint-port" \}, \{ slot = "state-path:data" \}\]/,
      /kind = "files"/,
    ],
    binding: [/\[state\]/],
  },
  'one program of a repository with several': {
    files: {
      'apps/notes/package.json': manifest({ scripts: { start: 'node main.js', test: 'node --test' } }),
      'apps/notes/main.js': NODE_SQLITE,
    },
    words: ['--repository', 'apps/notes'],
    kind: 'node',
    start: 'gated',
    recipe: [/\[\[artifact\]\]\nid = "app"\npath = "apps\/notes"/, /cwd = "apps\/notes"/],
    binding: [/recipe = "apps\/notes\/deployment\/idunn\/recipe\.toml"/],
  },
  'a program that speaks TCP': {
    files: { 'echo.py': 'import socketserver\n' },
    words: ['--tcp', '--', 'python3', 'echo.py', '{port}'],
    kind: 'words',
    start: 'overlapping',
    recipe: [/protocol = "tcp"\nrouted = true/, /\[health\]\nkind = "tcp"\n\n/],
    binding: [/\[route\]\nprotocol = "tcp"\nlisten = /],
  },
};

for (const [name, expected] of Object.entries(CASES)) {
  test(`init writes files that hold together: ${name}`, async (t) => {
    const { report, recipe, binding } = await initialised(t, expected);
    assert.deepEqual(report.faults, []);
    assert.equal(report.kind, expected.kind);
    assert.equal(report.start, expected.start);
    for (const pattern of expected.recipe) assert.match(recipe, pattern);
    for (const pattern of expected.binding) assert.match(binding, pattern);
    const doubts = expected.doubts ?? [];
    assert.equal(report.doubts.length, doubts.length, JSON.stringify(report.doubts));
    doubts.forEach((pattern, index) => assert.match(report.doubts[index]?.what ?? '', pattern));
    assert.ok(report.guesses.every(({ because }) => because !== ''));
  });
}

async function initialised(
  t: TestContext,
  { files, words = [] }: Case,
): Promise<{ report: InitReport; recipe: string; binding: string }> {
  const root = await scratch(t);
  const source = await repository(join(root, 'repository'), files);
  const fleet = join(root, 'fleet');
  const path = await programs(root, ['node', 'npm', 'python3', 'go']);
  const variable = (name: string) => (name === 'PATH' ? path : undefined);
  const said = await idunn(source, ['init', '--fleet', fleet, '--json', ...words], { variable });
  const report = JSON.parse(said.out) as InitReport;
  const written = (ending: string): Promise<string> =>
    readFile(report.files.find(({ path }) => path.endsWith(ending))?.path ?? '', 'utf8');
  return {
    report,
    recipe: await written('recipe.toml'),
    binding: await written(`bindings/${report.target}.toml`),
  };
}
