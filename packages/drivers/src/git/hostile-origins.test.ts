import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { appendFile, chmod, cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { systemClock } from '@idunn/kernel';
import { createGitSource } from './source.ts';
import { bench, codeOf, never, valueOf } from './testing/bench.ts';
import { evil } from './testing/evil.ts';
import { certificates, httpsOrigin } from './testing/https-origin.ts';
import { Repository } from './testing/repository.ts';

test('a ref that moves while it is read: one resolution, everything else by object id', async (context) => {
  const root = (await bench(context)).root;
  // A git that moves the origin's ref, and its cached copy, behind each of its own answers.
  const moving = join(root, 'moving-git');
  const origin = join(root, 'moved');
  await writeFile(
    moving,
    `#!/bin/sh\n/usr/bin/git "$@"; code=$?\n` +
      `/usr/bin/git -C ${origin} update-ref refs/heads/main refs/heads/next\nexit $code\n`,
  );
  await chmod(moving, 0o755);
  const { repository, reader, request, first } = await bench(context);
  await repository.git('checkout', '--quiet', '-b', 'next');
  await repository.write('deployment/idunn/recipe.toml', 'target = "other"\n');
  await repository.commit('next');
  await cp(repository.path, origin, { recursive: true });
  if (reader !== null) await promisify(execFile)('chown', ['-R', `${reader.uid}`, origin]);
  const source = createGitSource({
    git: moving,
    cache: join(root, 'c'),
    stages: join(root, 's'),
    clock: systemClock(),
  });
  const resolved = valueOf(await source.resolve(request({ origin }), never()));
  const git = new Map(
    await Promise.all(
      ['refs/heads/main', 'refs/heads/next'].map(async (ref) => [await repository.git('rev-parse', ref), ref] as const),
    ),
  );
  // Whichever of the two it was, tree and recipe are that commit's own.
  const name = git.get(resolved.facts.commit);
  assert.ok(name !== undefined);
  assert.equal(resolved.facts.tree, await repository.git('rev-parse', `${name}^{tree}`));
  assert.equal(
    Buffer.from(resolved.recipe, 'base64').toString(),
    await repository.git('cat-file', 'blob', `${name}:deployment/idunn/recipe.toml`).then((text) => `${text}\n`),
  );
  assert.equal(resolved.facts.minimumRevision, first);
  const moved = await readFile(join(origin, '.git/refs/heads/main'), 'utf8');
  assert.equal(moved.trim(), await repository.git('rev-parse', 'refs/heads/next'), 'the ref was really moved');
});

test('names that look like options are names', async (context) => {
  const { root, resolve, repository, first } = await bench(context);
  const { program, ran } = await evil(root);
  for (const ref of ['--upload-pack=' + program, '-o', '--output=x', '--all']) {
    assert.match(codeOf(await resolve({ ref })), /^source-(unreachable|ref-missing)$/);
    // As an origin it is a path, or a host that no transport reaches.
    assert.equal(codeOf(await resolve({ origin: ref })), 'source-unreachable');
  }
  assert.equal(await ran(), false);
  const branch = 'refs/heads/--upload-pack=x';
  await repository.git('update-ref', branch, first);
  assert.equal(valueOf(await resolve({ ref: branch })).facts.commit, first);
});

test('a shallow origin proves no ancestry: refused, at first and when it was whole before', async (context) => {
  const { root, repository, first, resolve } = await bench(context);
  await repository.write('a', '1');
  await repository.commit('second');
  const shallow = join(root, 'shallow');
  await repository.git('clone', '--quiet', '--depth=1', `file://${repository.path}`, shallow);
  assert.equal(codeOf(await resolve({ origin: shallow })), 'source-shallow');
  // The cache knows the ref from before. What it knows is not taken for what the origin says now.
  valueOf(await resolve({ target: 'second' }));
  await repository.write('a', '2');
  await repository.commit('third');
  const later = join(root, 'later');
  await repository.git('clone', '--quiet', '--depth=1', `file://${repository.path}`, later);
  assert.equal(codeOf(await resolve({ target: 'second', origin: later })), 'source-shallow');
  assert.equal(codeOf(await resolve({ origin: shallow, minimumRevision: first })), 'source-shallow');
});

test('replacements, grafts and a lying commit-graph of the origin prove no ancestry', async (context) => {
  const { repository, first, objects: own, resolve } = await bench(context);
  await repository.git('checkout', '--quiet', '--orphan', 'fresh');
  const unrelated = await repository.commit('unrelated');
  await repository.git('branch', '--force', 'main', unrelated);
  const forged = await repository.git('commit-tree', 'HEAD^{tree}', '-p', first, '-m', 'unrelated');
  await repository.git('replace', unrelated, forged);
  await writeFile(join(repository.path, '.git/info/grafts'), `${unrelated} ${first}\n`);
  // A commit-graph written under the replacement says what the replacement says.
  await repository.git('-c', 'core.commitGraph=true', 'commit-graph', 'write', '--reachable');
  assert.equal(await repository.git('merge-base', first, unrelated), first);
  assert.equal(codeOf(await resolve()), 'minimum-revision-unproven');
  // Nor do they when they lie in the cache itself.
  await mkdir(join(own, 'info'), { recursive: true });
  await writeFile(join(own, 'info/grafts'), `${unrelated} ${first}\n`);
  await repository.git('update-ref', 'refs/heads/forged', forged);
  await repository.git('update-ref', 'refs/heads/first', first);
  const planted = ['forged', 'first'].map((name) => `refs/heads/${name}:refs/heads/${name}`);
  await repository.git('--git-dir', own, 'fetch', '--quiet', repository.path, ...planted);
  await repository.git('--git-dir', own, 'update-ref', `refs/replace/${unrelated}`, forged);
  await cp(join(repository.path, '.git/objects/info'), join(own, 'objects/info'), { recursive: true });
  assert.equal(await repository.git('--git-dir', own, 'merge-base', first, unrelated), first);
  assert.equal(codeOf(await resolve()), 'minimum-revision-unproven');
});

test('alternates of a local origin are read, and what is copied is the tree all the same', async (context) => {
  const { root, repository, resolve, stage } = await bench(context);
  const borrowing = join(root, 'borrowing');
  await repository.git('clone', '--quiet', '--shared', repository.path, borrowing);
  const resolved = valueOf(await resolve({ origin: borrowing }));
  assert.deepEqual(valueOf(await resolve({ target: 'b' })).facts, { ...resolved.facts, origin: repository.path });
  valueOf(await stage(resolved));
});

test('alternates of an https origin lead nowhere', async (context) => {
  const { root, repository, request } = await bench(context);
  const served = join(root, 'served');
  const whole = join(served, 'whole.git');
  await repository.git('clone', '--quiet', '--bare', repository.path, whole);
  await repository.git('--git-dir', whole, 'update-server-info');
  const hollow = join(served, 'hollow.git');
  await repository.git('init', '--quiet', '--bare', hollow);
  await cp(join(whole, 'info'), join(hollow, 'info'), { recursive: true });
  const { url, requests } = await httpsOrigin(context, served);
  await mkdir(join(hollow, 'objects/info'), { recursive: true });
  await writeFile(join(hollow, 'objects/info/http-alternates'), `${url}/whole.git/objects\n`);
  const options = { git: '/usr/bin/git', stages: join(root, 's'), clock: systemClock(), certificates };
  const source = createGitSource({ ...options, cache: join(root, 'c') });
  assert.equal(codeOf(await source.resolve(request({ origin: `${url}/hollow.git` }), never())), 'source-unreachable');
  assert.deepEqual(
    requests.filter((path) => path.startsWith('/whole.git')),
    [],
  );
});

test('what the configuration and the hooks of an origin name is not run', async (context) => {
  const { root, repository, resolve, stage } = await bench(context);
  const { program, ran } = await evil(root);
  const names = {
    core: ['fsmonitor', 'sshCommand', 'gitProxy', 'alternateRefsCommand', 'pager', 'askPass', 'editor'],
    uploadpack: ['packObjectsHook'],
    uploadarchive: ['allowUnreachable'],
    filter: ['lfs.smudge', 'lfs.process', 'lfs.clean'],
  };
  for (const [section, keys] of Object.entries(names)) {
    for (const key of keys) await repository.git('config', `${section}.${key}`, program);
  }
  await repository.git('config', 'extensions.partialClone', 'elsewhere');
  await repository.git('config', 'remote.elsewhere.url', `ext::${program}`);
  await repository.git('config', 'remote.elsewhere.promisor', 'true');
  const hooks = join(repository.path, '.git/hooks');
  await mkdir(hooks, { recursive: true });
  for (const hook of [
    'post-checkout',
    'pre-receive',
    'reference-transaction',
    'post-index-change',
    'fsmonitor-watchman',
  ]) {
    await cp(program, join(hooks, hook));
  }
  await appendFile(join(repository.path, '.git/config'), `[alias]\n\tcat-file = !${program}\n\tfetch = !${program}\n`);
  valueOf(await stage(valueOf(await resolve())));
  assert.equal(await ran(), false);
  // The same programs do run where a git is used as people use it.
  await repository.git('-c', `core.fsmonitor=${program}`, 'status').catch(() => undefined);
  assert.equal(await ran(), true);
});

test('F1: an origin that cannot be had costs one question and leaves no cache behind', async (context) => {
  const { root, resolve, caches } = await bench(context);
  assert.equal(codeOf(await resolve({ origin: join(root, 'nowhere') })), 'source-unreachable');
  assert.equal(codeOf(await resolve({ ref: 'refs/heads/none' })), 'source-ref-missing');
  assert.deepEqual(await readdir(caches), ['trusted-origins']);
});

test('I2: an object cache that was altered is not taken for what its names say', async (context) => {
  const { repository, cache, objects, resolve, stage } = await bench(context);
  const resolved = valueOf(await resolve());
  const blob = await repository.git('rev-parse', 'HEAD:src/main.js');
  // Whoever can write to the cache puts other bytes, properly packed, under the name of a file.
  const other = await Repository.create(join(cache, 'other'));
  const id = await other.raw('blob', 'stolen()\n');
  const bytes = await readFile(join(other.path, '.git/objects', id.slice(0, 2), id.slice(2)));
  const file = join(objects, 'objects', blob.slice(0, 2), blob.slice(2));
  await chmod(file, 0o600);
  await writeFile(file, bytes);
  assert.match(codeOf(await stage(resolved)), /^(stage-mismatch|source-unreachable)$/);
});
