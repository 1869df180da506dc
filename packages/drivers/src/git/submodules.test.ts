import assert from 'node:assert/strict';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { treeIdOf } from '@idunn/release';
import { bench, codeOf, valueOf } from './testing/bench.ts';
import { Repository } from './testing/repository.ts';

/** A repository with a library as its submodule, which has one of its own. */
async function nested(context: TestContext) {
  const base = await bench(context);
  const inner = await Repository.create(join(base.root, 'inner'));
  await inner.write('data/table.txt', 'inner\n');
  const innerCommit = await inner.commit('inner');
  const library = await Repository.create(join(base.root, 'library'));
  await library.write('lib.js', 'library()\n');
  await library.link('table', 'deps/inner/data/table.txt');
  await library.git('update-index', '--add', '--cacheinfo', `160000,${innerCommit},deps/inner`);
  await library.git('add', 'lib.js', 'table');
  await library.git('commit', '--quiet', '--message', 'library');
  const libraryCommit = await library.git('rev-parse', 'HEAD');
  await base.repository.write('.gitmodules', '[submodule "lib"]\n\tpath = vendor/lib\n\turl = ext::sh -c touch% x\n');
  await base.repository.git('add', '.gitmodules');
  await base.repository.git('update-index', '--add', '--cacheinfo', `160000,${libraryCommit},vendor/lib`);
  await base.repository.git('commit', '--quiet', '--message', 'submodule');
  const ref = 'refs/heads/main';
  const submodules = [
    { path: 'vendor/lib', origin: library.path, ref },
    { path: 'vendor/lib/deps/inner', origin: inner.path, ref },
  ] as const;
  return { ...base, inner, innerCommit, library, libraryCommit, submodules };
}

test('F1: submodules that the binding does not admit are all named before any is fetched', async (context) => {
  const { repository, resolve, cache, submodules } = await nested(context);
  await repository.git('update-index', '--add', '--cacheinfo', `160000,${'a'.repeat(40)},vendor/second`);
  await repository.git('commit', '--quiet', '--message', 'second');
  const outcome = await resolve({ submodules: [] });
  assert.equal(codeOf(outcome), 'submodule-not-admitted');
  assert.match(JSON.stringify(outcome), /vendor\/lib at [0-9a-f]{40}, vendor\/second at a{40}/);
  assert.equal(codeOf(await resolve({ submodules: submodules.slice(0, 1) })), 'submodule-not-admitted');
  assert.ok(!(await readdir(cache)).includes('app.modules'));
});

test('a submodule inside another one has to be admitted by its own path', async (context) => {
  const { resolve, repository, submodules } = await nested(context);
  const outcome = await resolve({ submodules: submodules.slice(0, 1) });
  assert.equal(codeOf(outcome), 'submodule-not-admitted');
  assert.match(JSON.stringify(outcome), /vendor\/lib\/deps\/inner at/);
  assert.ok((await repository.git('ls-tree', 'HEAD:vendor')).startsWith('160000'));
});

test('I2: admitted submodules are staged at exactly the commits that the trees record', async (context) => {
  const { resolve, stage, paths, submodules, library, libraryCommit, inner, innerCommit } = await nested(context);
  // Both moved on since; what is recorded is what counts.
  await library.git('commit', '--quiet', '--allow-empty', '--message', 'later');
  await inner.write('data/table.txt', 'later\n');
  await inner.commit('later');
  const resolved = valueOf(await resolve({ submodules }));
  assert.deepEqual(resolved.facts.gitlinks, [
    {
      ...submodules[0],
      objectFormat: 'sha1',
      commit: libraryCommit,
      tree: await library.git('rev-parse', `${libraryCommit}^{tree}`),
    },
    {
      ...submodules[1],
      objectFormat: 'sha1',
      commit: innerCommit,
      tree: await inner.git('rev-parse', `${innerCommit}^{tree}`),
    },
  ]);
  valueOf(await stage(resolved));
  assert.equal(await readFile(join(paths.tree, 'vendor/lib/lib.js'), 'utf8'), 'library()\n');
  // A link of the library, through the submodule that is inside it.
  assert.equal(await readFile(join(paths.tree, 'vendor/lib/table'), 'utf8'), 'inner\n');
  assert.equal(await treeIdOf(paths.tree, resolved.facts), resolved.facts.tree);
  // One byte of a submodule, and the whole is another tree.
  await writeFile(join(paths.tree, 'vendor/lib/deps/inner/data/table.txt'), 'outer\n');
  assert.notEqual(await treeIdOf(paths.tree, resolved.facts), resolved.facts.tree);
});

test('a submodule whose commit its admitted ref does not contain is refused', async (context) => {
  const { resolve, inner, submodules } = await nested(context);
  await inner.git('checkout', '--quiet', '--orphan', 'fresh');
  await inner.commit('unrelated');
  await inner.git('branch', '--force', 'main', 'fresh');
  const outcome = await resolve({ submodules });
  assert.equal(codeOf(outcome), 'source-commit-missing');
  assert.match(JSON.stringify(outcome), /submodule vendor\/lib\/deps\/inner/);
});

test('I11: a link of a submodule may lead into the tree around it, and not out of that', async (context) => {
  const { repository, resolve, stage, library, submodules } = await nested(context);
  const record = async (target: string): Promise<void> => {
    await library.link('way', target);
    await library.git('add', 'way');
    await library.git('commit', '--quiet', '--message', target);
    await repository.git('update-index', '--cacheinfo', `160000,${await library.git('rev-parse', 'HEAD')},vendor/lib`);
    await repository.git('commit', '--quiet', '--message', target);
    await rm(join(library.path, 'way'));
  };
  await record('../../src/main.js');
  valueOf(await stage(valueOf(await resolve({ submodules }))));
  await record('../../../outside');
  assert.equal(codeOf(await stage(valueOf(await resolve({ submodules })))), 'source-link-leaves-tree');
});

test('lost object caches of submodules are fetched again while staging', async (context) => {
  const { resolve, stage, submodules, cache } = await nested(context);
  const resolved = valueOf(await resolve({ submodules }));
  await rm(cache, { recursive: true });
  valueOf(await stage(resolved));
});
