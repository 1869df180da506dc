import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { chmod, copyFile, mkdir, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { systemClock } from '@idunn/kernel';
import { createGitSource } from './source.ts';
import { bench, codeOf, never, RECIPE, STAGE, valueOf } from './testing/bench.ts';
import { evil } from './testing/evil.ts';
import { certificates, httpsOrigin } from './testing/https-origin.ts';

const clock = systemClock();

for (const objectFormat of ['sha1', 'sha256'] as const) {
  test(`I2: every fact is proven and the exact tree is staged (${objectFormat})`, async (context) => {
    const { repository, first, resolve, stage, paths } = await bench(context, objectFormat);
    await repository.write('bin/run', '#!/bin/sh\n', 0o755);
    await repository.write('ünïcode name', Buffer.from([0, 255, 13, 10]));
    await repository.write('.gitattributes', '* text=auto eol=crlf\n*.js filter=evil ident\n');
    await repository.link('src/entry', 'main.js');
    await repository.link('up', 'src/../src');
    const second = await repository.commit('second');

    const resolved = valueOf(await resolve());
    assert.deepEqual(resolved.facts, {
      origin: repository.path,
      ref: 'refs/heads/main',
      selection: 'ref-head',
      objectFormat,
      commit: second,
      tree: await repository.git('rev-parse', 'HEAD^{tree}'),
      recipePath: RECIPE,
      recipeBlob: await repository.git('rev-parse', `HEAD:${RECIPE}`),
      recipeDigest: resolved.facts.recipeDigest,
      gitlinks: [],
      lfsPointers: 'refuse',
      authorization: null,
      minimumRevision: first,
    });
    assert.equal(Buffer.from(resolved.recipe, 'base64').toString(), 'target = "app"\n');

    assert.match(valueOf(await stage(resolved)), /^sha256:/);
    // Line endings are untouched, whatever the attributes of the repository say.
    assert.equal(await readFile(join(paths.tree, 'src/main.js'), 'utf8'), 'console.log(1)\r\nwith\tboth\n');
    assert.deepEqual(await readFile(join(paths.tree, 'ünïcode name')), Buffer.from([0, 255, 13, 10]));
    assert.equal((await stat(join(paths.tree, 'bin/run'))).mode & 0o777, 0o755);
    assert.equal((await stat(join(paths.tree, 'src/main.js'))).mode & 0o777, 0o644);
    assert.equal(await readlink(join(paths.tree, 'up')), 'src/../src');
    assert.ok(!(await readdir(paths.tree)).includes('.git'));
  });
}

test('an unchanged ref transfers nothing, and a lost object cache is fetched again while staging', async (context) => {
  const { resolve, stage, cache, objects, repository } = await bench(context);
  const resolved = valueOf(await resolve());
  const before = await readdir(join(objects, 'objects/pack'));
  const loose = (await stat(objects)).mtimeMs;
  valueOf(await resolve());
  assert.deepEqual(await readdir(join(objects, 'objects/pack')), before);
  assert.equal((await stat(objects)).mtimeMs, loose);
  await rm(cache, { recursive: true });
  valueOf(await stage(resolved));
  // The origin moved on and even rewound: what the plan froze is either still there or refused, never replaced.
  await repository.write('later', 'x');
  await repository.commit('later');
  assert.equal(valueOf(await stage(resolved)), valueOf(await stage(resolved)));
});

test('a pinned object is deployed only when the admitted ref contains it', async (context) => {
  const { repository, first, resolve } = await bench(context);
  await repository.write('a', '1');
  await repository.commit('second');
  await repository.git('checkout', '--quiet', '-b', 'elsewhere');
  await repository.write('b', '1');
  const foreign = await repository.commit('not on main');
  const pinned = valueOf(await resolve({ selection: 'pinned-object', commit: first }));
  assert.equal(pinned.facts.commit, first);
  assert.equal(codeOf(await resolve({ selection: 'pinned-object', commit: foreign })), 'source-commit-missing');
  assert.equal(codeOf(await resolve({ selection: 'pinned-object', commit: 'f'.repeat(40) })), 'source-commit-missing');
  // Once fetched is not contained: the ref was taken back, its objects are still in the cache.
  await repository.git('branch', '--force', 'main', foreign);
  valueOf(await resolve());
  await repository.git('branch', '--force', 'main', first);
  assert.equal(codeOf(await resolve({ selection: 'pinned-object', commit: foreign })), 'source-commit-missing');
});

test('a commit that does not descend from the minimum revision is refused', async (context) => {
  const { repository, first, resolve } = await bench(context);
  valueOf(await resolve());
  await repository.git('checkout', '--quiet', '--orphan', 'fresh');
  await repository.commit('unrelated history');
  await repository.git('branch', '--force', 'main', 'fresh');
  const outcome = await resolve();
  assert.equal(codeOf(outcome), 'minimum-revision-unproven');
  assert.match(JSON.stringify(outcome), new RegExp(`minimum revision ${first}`));
  // A tree's id is no revision either.
  const tree = await repository.git('rev-parse', 'fresh^{tree}');
  assert.equal(codeOf(await resolve({ minimumRevision: tree })), 'minimum-revision-unproven');
});

test('an annotated tag is peeled to its commit', async (context) => {
  const { repository, first, resolve } = await bench(context);
  await repository.git('tag', '--annotate', '--message', 'one', 'v1');
  assert.equal(valueOf(await resolve({ ref: 'refs/tags/v1' })).facts.commit, first);
  // But a minimum revision is a commit by its own id.
  const tag = await repository.git('rev-parse', 'refs/tags/v1');
  assert.equal(codeOf(await resolve({ ref: 'refs/tags/v1', minimumRevision: tag })), 'minimum-revision-unproven');
});

test('what is missing is named: origin, ref, recipe, git itself', async (context) => {
  const { root, resolve, request, repository } = await bench(context);
  const origin = join(root, 'nowhere');
  const gone = await resolve({ origin });
  assert.equal(codeOf(gone), 'source-unreachable');
  assert.match(JSON.stringify(gone), /does not appear to be a git repository|does not exist/);
  assert.equal(codeOf(await resolve({ ref: 'refs/heads/release' })), 'source-ref-missing');
  assert.equal(codeOf(await resolve({ recipePath: 'recipe.toml' })), 'recipe-missing');
  assert.equal(codeOf(await resolve({ recipePath: 'src' })), 'recipe-missing');
  await repository.write('big.toml', '#'.repeat(300_000));
  await repository.commit('big');
  assert.equal(codeOf(await resolve({ recipePath: 'big.toml' })), 'recipe-too-large');
  const source = createGitSource({ git: join(root, 'no-git'), cache: join(root, 'c'), stages: join(root, 's'), clock });
  const without = await source.resolve(request({ origin, minimumRevision: 'f'.repeat(40) }), never());
  assert.match(JSON.stringify(without), /source-unreachable.*ENOENT/);
});

test('no transport but https and a local directory is ever used', async (context) => {
  const { resolve } = await bench(context);
  for (const origin of [
    'ext::sh -c true',
    'git://127.0.0.1:1/app',
    'http://127.0.0.1:1/app',
    'ssh://127.0.0.1:1/app',
  ]) {
    assert.match(JSON.stringify(await resolve({ origin })), /transport '\w+' not allowed/, origin);
  }
});

test('neither the repository nor the user can make git run a program', async (context) => {
  const { root, repository, resolve, stage, objects } = await bench(context);
  const { program, ran } = await evil(root);
  await repository.git('config', 'filter.evil.smudge', program);
  await repository.write('.gitattributes', '* filter=evil\n');
  await repository.commit('attributes');
  const resolved = valueOf(await resolve());
  const hook = join(objects, 'hooks/reference-transaction');
  await mkdir(join(objects, 'hooks'), { recursive: true });
  await copyFile(program, hook);
  await chmod(hook, 0o755);
  await repository.write('again', '1');
  await repository.commit('again');
  valueOf(await resolve());
  valueOf(await stage(resolved));
  assert.equal(await ran(), false);
  // The control: git as people call it runs the hook.
  await repository.git('--git-dir', objects, 'update-ref', 'refs/heads/other', resolved.facts.commit);
  assert.equal(await ran(), true);
});

test('I2: what is on disk decides: a stage with one more file is not that tree', async (context) => {
  const { resolve, stage, paths, source } = await bench(context);
  const resolved = valueOf(await resolve());
  valueOf(await stage(resolved));
  // The same call into a stage that already holds something more is caught by what is on disk.
  await rm(join(paths.tree, 'src'), { recursive: true });
  await rm(join(paths.tree, 'deployment'), { recursive: true });
  await writeFile(join(paths.tree, 'extra'), '');
  assert.equal(codeOf(await source.stage('app', resolved.facts, STAGE, never())), 'stage-mismatch');
});

test('an abort ends git and is answered as withdrawn', async (context) => {
  const { root, request, source, resolve, stage } = await bench(context);
  const early = AbortSignal.abort();
  assert.equal(codeOf(await source.resolve(request(), early)), 'work-aborted');
  assert.equal(codeOf(await stage(valueOf(await resolve()), early)), 'work-aborted');

  // A git that never ends, with a child of its own; both hold the fifo open, so its end is the end of both.
  const fifo = join(root, 'alive');
  await promisify(execFile)('mkfifo', [fifo]);
  await chmod(fifo, 0o666);
  const slow = join(root, 'slow-git');
  await writeFile(slow, `#!/bin/sh\nexec 9> ${fifo}\nsleep 1000 &\necho started >&9\nwait\n`);
  await chmod(slow, 0o755);
  const stuck = createGitSource({ git: slow, cache: join(root, 'c2'), stages: join(root, 's2'), clock });
  const controller = new AbortController();
  const answer = stuck.resolve(request(), controller.signal);
  let said = '';
  for await (const chunk of createReadStream(fifo, 'utf8') as AsyncIterable<string>) {
    said += chunk;
    controller.abort();
  }
  assert.equal(said, 'started\n');
  assert.equal(codeOf(await answer), 'work-aborted');
});

test('an https origin: certificates are checked, redirects not followed, the tree is the same', async (context) => {
  const { root, repository, first, request, stage, resolve } = await bench(context);
  const bare = join(root, 'served', 'app.git');
  await repository.git('clone', '--quiet', '--bare', repository.path, bare);
  await repository.git('--git-dir', bare, 'update-server-info');
  const { url, requests } = await httpsOrigin(context, join(root, 'served'));
  const options = { git: '/usr/bin/git', stages: join(root, 'stages'), clock };
  const trusting = createGitSource({ ...options, cache: join(root, 'https-cache'), certificates });
  const over = (origin: string) => trusting.resolve(request({ origin }), never());

  const resolved = valueOf(await over(`${url}/app.git`));
  assert.deepEqual(resolved.facts, { ...valueOf(await resolve()).facts, origin: `${url}/app.git` });
  assert.equal(resolved.facts.commit, first);
  // The network's time is no time of ours; this machine's is.
  assert.ok(resolved.fetchMs > 0);
  assert.equal(valueOf(await resolve()).fetchMs, 0);
  valueOf(await stage(resolved));
  const moved = await over(`${url}/moved/app.git`);
  assert.match(JSON.stringify(moved), /source-unreachable.*(redirect|302)/);
  const count = requests.length;
  const doubting = createGitSource({ ...options, cache: join(root, 'no-cache') });
  assert.match(JSON.stringify(await doubting.resolve(request({ origin: `${url}/app.git` }), never())), /certificate/);
  assert.equal(requests.length, count);
});
