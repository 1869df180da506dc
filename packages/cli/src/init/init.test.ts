import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { InitReport } from '../render/init.ts';
import { git, idunn, programs, repository, scratch, writeAll } from '../testing/repository.ts';

const SERVER = `require('node:http').createServer((q, r) => r.end('/healthz')).listen(process.env.PORT);\n`;
const NODE = { 'package.json': '{"name":"notes","scripts":{"start":"node server.js"}}', 'server.js': SERVER };

interface Yard {
  readonly source: string;
  readonly fleet: string;
  readonly init: (...words: string[]) => ReturnType<typeof idunn>;
  readonly report: (...words: string[]) => Promise<InitReport>;
}

async function yard(t: TestContext, files: Readonly<Record<string, string>>): Promise<Yard> {
  const root = await scratch(t);
  const source = await repository(join(root, 'source'), files);
  const fleet = join(root, 'fleet');
  const path = await programs(root, ['node', 'python3']);
  const variable = (name: string) => (name === 'PATH' ? path : undefined);
  const init = (...words: string[]) => idunn(source, ['init', '--fleet', fleet, ...words], { variable });
  const report = async (...words: string[]) => JSON.parse((await init('--json', ...words)).out) as InitReport;
  return { source, fleet, init, report };
}

const filesOf = async (directory: string): Promise<string[]> =>
  (await readdir(directory, { recursive: true }).catch(() => [])).filter((name) => !name.startsWith('.git')).toSorted();

test('F6: init --help and wrong words write nothing', async (t) => {
  const { source, fleet, init } = await yard(t, NODE);
  assert.equal((await init('--help')).code, 0);
  for (const words of [
    ['--port', '0'],
    ['--port', '70000'],
    ['--state', 'redis:x'],
    ['--state', 'sqlite:../x'],
    ['--health', 'x'],
    ['--target', 'A'],
  ]) {
    assert.equal((await init(...words)).code, 2, words.join(' '));
  }
  assert.deepEqual(await filesOf(fleet), []);
  assert.deepEqual(await filesOf(source), ['package.json', 'server.js']);
});

test('init makes the fleet, says what it guessed and from what, and names the next commands', async (t) => {
  const { fleet, source, init } = await yard(t, NODE);
  const { out } = await init('--port', '8123');
  assert.match(
    out,
    /wrote \S+fleet\.toml\n.*wrote \S+deployment\/idunn\/recipe\.toml\n.*wrote \S+bindings\/notes\.toml/,
  );
  assert.match(out, /node runs server\.js\n +scripts\.start of package\.json is "node server\.js"/);
  assert.match(out, /PORT is filled with endpoint-port\n +read in server\.js:1/);
  assert.match(
    out,
    /git add deployment\/idunn\/recipe\.toml\n.*git commit[^]*daemon --detach[^]*plan notes[^]*up notes/,
  );
  const binding = await readFile(join(fleet, 'bindings/notes.toml'), 'utf8');
  assert.match(binding, /port = 8123/);
  assert.match(binding, new RegExp(`minimum_revision = "${git(source, 'rev-parse', 'HEAD')}"`));
});

test('init never writes over a file, and then writes none of the others', async (t) => {
  const { fleet, source, init } = await yard(t, { ...NODE, 'deployment/idunn/recipe.toml': '# mine\n' });
  const said = await init();
  assert.equal(said.code, 3);
  assert.match(said.err, /init-exists: \S+recipe\.toml is there already; nothing was written/);
  assert.deepEqual(await filesOf(fleet), []);
  assert.equal(await readFile(join(source, 'deployment/idunn/recipe.toml'), 'utf8'), '# mine\n');
});

test('init --print shows the files and writes nothing', async (t) => {
  const { fleet, source, init } = await yard(t, NODE);
  assert.match((await init('--print')).out, /── \S+recipe\.toml\n# What notes is made of/);
  assert.deepEqual(await filesOf(fleet), []);
  assert.deepEqual(await filesOf(source), ['package.json', 'server.js']);
});

test('a second target of the fleet gets a port that no binding names', async (t) => {
  const { fleet, init } = await yard(t, NODE);
  await init('--port', '8080');
  const other = await repository(join(fleet, '../other'), {
    'app.py': 'import os\nos.environ["PORT"]\n"/healthz"\n.listen(',
  });
  const said = await idunn(other, ['init', '--fleet', fleet, '--json']);
  const { files } = JSON.parse(said.out) as InitReport;
  assert.ok(
    files.every(({ path }) => !path.endsWith('fleet.toml')),
    'the fleet is there already',
  );
  const port = /port = (\d+)/.exec(files.find(({ path }) => path.endsWith('bindings/other.toml'))?.text ?? '')?.[1];
  assert.notEqual(port, undefined);
  assert.notEqual(port, '8080');
});

test('what cannot be handed over safely is doubted, never written', async (t) => {
  const { report } = await yard(t, {
    'app.py': [
      'import os, sqlite3',
      'url = os.environ["DATABASE_URL"]',
      'key = os.getenv("STRIPE_API_KEY")',
      'mode = os.environ["MODE"]',
    ].join('\n'),
  });
  const { doubts, files } = await report();
  const text = JSON.stringify(doubts);
  assert.match(text, /DATABASE_URL \(app\.py:2\) is a URL/);
  assert.match(text, /STRIPE_API_KEY \(app\.py:3\) looks like a secret/);
  assert.match(text, /nothing tells the program where its state is/);
  const binding = files.find(({ path }) => path.includes('bindings/'))?.text ?? '';
  assert.match(binding, /^# MODE = "" {2}\(app\.py:4\)$/m);
  assert.doesNotMatch(binding, /STRIPE|DATABASE_URL/);
});

test('data that lies beside the program is found and left where it is', async (t) => {
  const { source, report } = await yard(t, {
    ...NODE,
    'server.js': `require('better-sqlite3')(process.env.DB_PATH)\n${SERVER}`,
  });
  await writeAll(source, { 'var/notes.sqlite3': '' });
  const { doubts, state, files } = await report();
  assert.match(doubts[0]?.what ?? '', /^var\/notes\.sqlite3 may be the data/);
  assert.match(files.find(({ path }) => path.endsWith('recipe.toml'))?.text ?? '', /path = "notes\.sqlite3"/);
  assert.match(state ?? '', /fleet\/data\/notes$/);
});

test('a repository that shows nothing is refused with the words to say; somebody at a terminal is asked', async (t) => {
  const { source, fleet, init } = await yard(t, { 'tool.rb': 'puts 1\n' });
  const said = await init();
  assert.equal(said.code, 3);
  assert.match(said.err, /init-unrecognised[^]*idunn init -- PROGRAM FILE/);
  const asked: string[] = [];
  const ask = (question: string) => (asked.push(question), Promise.resolve('ruby tool.rb {port}'));
  const answered = await idunn(source, ['init', '--fleet', fleet, '--json'], { ask });
  assert.equal(asked.length, 1);
  assert.match(answered.out, /ruby runs tool\.rb/);
  assert.match((await init('--', 'python3', 'tool.rb', '--port={port}')).err, /only whole words are filled in/);
  assert.match(
    (await init('--', 'python3', 'absent.py')).err,
    /neither python3 nor absent\.py is a file that Git tracks/,
  );
});

test('outside a work tree, or before its first commit, nothing is guessed', async (t) => {
  const root = await scratch(t);
  assert.match(
    (await idunn(root, ['init', '--fleet', 'f'])).err,
    /init-repository-unusable: \S+ is in no Git work tree/,
  );
  git(root, 'init', '--quiet', '--initial-branch=main');
  assert.match((await idunn(root, ['init', '--fleet', 'f'])).err, /has no commit yet/);
});

test('without any fleet, the refusal says how one is made', async (t) => {
  const { source } = await yard(t, NODE);
  const said = await idunn(source, ['init'], { home: source });
  assert.match(said.err, /fleet-not-found[^]*idunn init --fleet DIRECTORY: a fleet is made there/);
});
