import assert from 'node:assert/strict';
import { chmod, chown, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Reading, readerFor } from './reader.ts';
import { bench, codeOf, valueOf } from './testing/bench.ts';
import { temporary } from './testing/repository.ts';

/** Every Debian has it, and it owns nothing. */
const READER = { name: 'nobody', uid: 65_534 };
const STRANGER = 12_345;
const asRoot = { skip: process.getuid?.() !== 0 };

const reading = (more: Partial<Reading> = {}): Reading => ({ uid: 0, reader: null, originOwners: [], ...more });

test('who reads: only root reads as somebody else, and nobody reads as root who was told otherwise', async () => {
  const read = async (more: Partial<Reading>) => {
    const reader = await readerFor(reading(more));
    return reader.ok ? (reader.value.account?.name ?? 'itself') : reader.refusal.code;
  };
  assert.equal(await read({ reader: READER.name }), READER.name);
  assert.equal(await read({ uid: STRANGER }), 'itself');
  assert.equal(await read({ uid: READER.uid, reader: READER.name }), 'itself');
  assert.equal(await read({ uid: STRANGER, reader: READER.name }), 'reader-unusable');
  assert.equal(await read({ reader: 'root' }), 'reader-unusable');
  assert.equal(await read({ reader: 'no-such-user' }), 'reader-unusable');
  assert.equal(await read({ originOwners: ['no-such-user'] }), 'reader-unusable');
});

/** A root daemon with a reader, and a git that writes down who it is. */
async function separated(context: TestContext, more: Partial<Reading> = {}) {
  const tools = await temporary(context);
  const [git, ids] = [join(tools, 'git'), join(tools, 'ids')];
  await writeFile(git, `#!/bin/sh\necho "$(id -u) $(id -g) $(id -G)" >> ${ids}\nexec /usr/bin/git "$@"\n`);
  await writeFile(ids, '');
  for (const [path, mode] of [
    [tools, 0o755],
    [git, 0o755],
    [ids, 0o666],
  ] as const)
    await chmod(path, mode);
  const base = await bench(context, 'sha1', {
    git,
    reading: () => reading({ reader: READER.name, ...more }),
    place: 'cache/git',
  });
  await chmod(base.root, 0o755);
  const who = async () => new Set((await readFile(ids, 'utf8')).trim().split('\n'));
  return { ...base, who };
}

test('as root, every git runs as the reader, and the stage belongs to root', asRoot, async (context) => {
  const { resolve, stage, paths, cache, who } = await separated(context);
  valueOf(await stage(valueOf(await resolve())));
  assert.deepEqual(await who(), new Set([`${READER.uid} ${READER.uid} ${READER.uid}`]));
  const own = join(cache, `reader-${READER.uid}`);
  assert.equal((await stat(own)).uid, 0);
  for (const name of ['app.git', 'app.git/HEAD', 'app.git/objects']) {
    assert.equal((await stat(join(own, name))).uid, READER.uid, name);
  }
  for (const name of await readdir(paths.tree, { recursive: true })) {
    assert.equal((await stat(join(paths.tree, name))).uid, 0, name);
  }
  // The way to the caches can be passed, and nothing beside it be seen.
  for (const path of [cache, join(cache, '..')]) assert.equal((await stat(path)).mode & 0o077, 0o011, path);
});

test('a cache that was thrown away is made again, with the way to it', asRoot, async (context) => {
  const { resolve, stage, cache } = await separated(context);
  const resolved = valueOf(await resolve());
  await rm(join(cache, '..'), { recursive: true });
  valueOf(await stage(resolved));
});

test('I11: what root alone can read is not deployed by way of a repository', asRoot, async (context) => {
  const hidden = await bench(context);
  const { root, repository, resolve } = await separated(context);
  await hidden.repository.write('secret', 'only root\n');
  const commit = await hidden.repository.commit('secret');
  await chmod(hidden.root, 0o700);
  // A repository that everybody can read borrows the objects of one that nobody else can.
  const borrowing = join(root, 'borrowing');
  await repository.git('init', '--quiet', '--bare', '--initial-branch=main', borrowing);
  await mkdir(join(borrowing, 'refs/heads'), { recursive: true });
  await writeFile(join(borrowing, 'objects/info/alternates'), `${hidden.repository.path}/.git/objects\n`);
  await writeFile(join(borrowing, 'refs/heads/main'), `${commit}\n`);
  const minimumRevision = hidden.first;
  assert.match(codeOf(await resolve({ origin: borrowing, minimumRevision })), /^source-/);
  // The control: read as root, it is had.
  valueOf(await hidden.resolve({ origin: borrowing, minimumRevision }));
});

test('local origins of root, the reader and the named owners are read, and no stranger’s', asRoot, async (context) => {
  const { repository, resolve } = await separated(context, { originOwners: ['daemon'] });
  const give = async (uid: number): Promise<void> => {
    for (const path of [repository.path, join(repository.path, '.git')]) await chown(path, uid, uid);
  };
  for (const owner of [0, READER.uid, 1]) {
    await give(owner);
    valueOf(await resolve());
  }
  await give(STRANGER);
  const outcome = await resolve();
  assert.equal(codeOf(outcome), 'source-origin-foreign');
  assert.match(JSON.stringify(outcome), /origin_owners/);
  // A repository inside is somebody's too.
  await chown(repository.path, 0, 0);
  assert.equal(codeOf(await resolve()), 'source-origin-foreign');
});

test('a reader that cannot reach its cache is refused by name', asRoot, async (context) => {
  const { root, resolve, repository } = await separated(context);
  const elsewhere = await temporary(context);
  const cut = await bench(context, 'sha1', {
    reading: () => reading({ reader: READER.name }),
    cache: join(elsewhere, 'cache/git'),
  });
  await chmod(elsewhere, 0o700);
  const outcome = await cut.resolve({
    origin: repository.path,
    minimumRevision: await repository.git('rev-parse', 'HEAD'),
  });
  assert.equal(codeOf(outcome), 'reader-unusable');
  assert.match(JSON.stringify(outcome), /nobody cannot pass to/);
  valueOf(await resolve());
  assert.ok(root !== elsewhere);
});
