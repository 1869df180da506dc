import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, chown, cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { type Reading, readerFor } from './reader.ts';
import type { GitSourceOptions } from './source.ts';
import { codeOf, valueOf } from './testing/bench.ts';
import { Repository, temporary } from './testing/repository.ts';
import { asRoot, READER, reading, STRANGER, separated } from './testing/separated.ts';

test('who reads: only root reads as somebody else, and root itself never does', async () => {
  const read = async (more: Partial<Reading>) => {
    const reader = await readerFor(reading(more));
    return reader.ok ? (reader.value.account?.name ?? 'itself') : reader.refusal.code;
  };
  assert.match(await read({}), /^(?:idunn-reader|nobody)$/);
  assert.equal(await read({ reader: READER.name }), READER.name);
  assert.equal(await read({ uid: STRANGER }), 'itself');
  assert.equal(await read({ uid: READER.uid, reader: READER.name }), 'itself');
  assert.equal(await read({ uid: STRANGER, reader: READER.name }), 'reader-unusable');
  assert.equal(await read({ reader: 'root' }), 'reader-unusable');
  assert.equal(await read({ reader: 'no-such-user' }), 'reader-unusable');
  assert.equal(await read({ originOwners: ['no-such-user'] }), 'reader-unusable');
});

test('as root, every git runs as the reader, and the stage belongs to root', asRoot, async (context) => {
  const { resolve, stage, paths, cache, caches, who } = await separated(context);
  valueOf(await stage(valueOf(await resolve())));
  assert.deepEqual(await who(), new Set([`${READER.uid} ${READER.uid} ${READER.uid}`]));
  assert.equal((await stat(caches)).uid, 0);
  for (const name of ['app.git', 'app.git/HEAD', 'app.git/objects']) {
    assert.equal((await stat(join(caches, name))).uid, READER.uid, name);
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

/** A repository that everybody can read, and that borrows the objects of another one. */
async function borrowing(repository: Repository, path: string, lender: string, commit: string): Promise<void> {
  await repository.git('init', '--quiet', '--bare', '--initial-branch=main', path);
  await writeFile(join(path, 'objects/info/alternates'), `${lender}/.git/objects\n`);
  await writeFile(join(path, 'refs/heads/main'), `${commit}\n`);
}

test('I11: what root alone can read is not deployed by way of a repository', asRoot, async (context) => {
  const { root, repository, first, resolve } = await separated(context);
  const hidden = await Repository.create(join(root, 'hidden/app'));
  await hidden.write('secret', 'only root\n');
  const commit = await hidden.commit('secret');
  const origin = join(root, 'borrowing');
  await borrowing(repository, origin, hidden.path, commit);
  await chmod(join(root, 'hidden'), 0o700);
  assert.match(codeOf(await resolve({ origin })), /^source-/);
  // The control: root has it, and so has the reader when it may.
  assert.equal(await repository.git('--git-dir', origin, 'cat-file', 'blob', 'main:secret'), 'only root');
  await chmod(join(root, 'hidden'), 0o755);
  const open = { origin, minimumRevision: commit, recipePath: 'secret' };
  assert.equal(valueOf(await resolve(open)).facts.commit, commit);
  assert.notEqual(commit, first);
});

test('whatever git could be brought to run, it runs as the reader, who can do nothing', asRoot, async (context) => {
  const grounds = await temporary(context);
  const [secret, kept, loot] = ['secret', 'kept', 'loot'].map((name) => join(grounds, name)) as [
    string,
    string,
    string,
  ];
  await writeFile(secret, 'only root', { mode: 0o600 });
  await mkdir(kept, { mode: 0o755 });
  await writeFile(loot, '');
  await chmod(loot, 0o666);
  const program = join(grounds, 'program');
  await writeFile(program, `#!/bin/sh\necho ran >> ${loot}\ncat ${secret} >> ${loot}\ntouch ${kept}/trace\nexit 0\n`);
  await chmod(program, 0o755);
  // A git with a hole: it runs, on every call, what the repository tells it to.
  const { resolve, stage } = await separated(context, {}, `${program} 2>/dev/null`);
  valueOf(await stage(valueOf(await resolve())));
  assert.match(await readFile(loot, 'utf8'), /^(?:ran\n)+$/);
  assert.deepEqual(await readdir(kept), []);
  // The control: the same program gets both as root.
  await promisify(execFile)(program);
  assert.match(await readFile(loot, 'utf8'), /only root/);
  assert.deepEqual(await readdir(kept), ['trace']);
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

test(
  'object caches behind a directory that root has closed are reached there, by nobody else',
  asRoot,
  async (context) => {
    const { resolve, stage, root, repository, who } = await separated(context);
    const elsewhere = await temporary(context);
    const closed = join(elsewhere, 'closed');
    await mkdir(closed, { mode: 0o700 });
    const kept = (options: Partial<GitSourceOptions> = {}) =>
      separated(context, {}, '', { cache: join(closed, 'cache/git'), ...options });
    const ours = await kept();
    const request = { origin: repository.path, minimumRevision: await repository.git('rev-parse', 'HEAD') };
    valueOf(await ours.stage(valueOf(await ours.resolve(request))));
    assert.deepEqual(await ours.who(), new Set([`${READER.uid} ${READER.uid} ${READER.uid}`]));
    assert.equal((await stat(closed)).mode & 0o777, 0o700);
    // An origin beside it is seen too, and only where it is asked for.
    await cp(repository.path, join(closed, 'deep/app'), { recursive: true });
    valueOf(await ours.stage(valueOf(await ours.resolve({ ...request, origin: join(closed, 'deep/app') }))));
    // Where the way cannot be opened, the directory that closes it is named.
    for (const lacking of [await kept({ bubblewrap: null }), await kept()]) {
      const outcome = await lacking.resolve(request);
      assert.equal(codeOf(outcome), 'reader-unusable');
      assert.ok(JSON.stringify(outcome).includes(`nobody cannot enter ${closed} on the way to the object caches`));
      await chown(closed, STRANGER, STRANGER);
    }
    valueOf(await stage(valueOf(await resolve())));
    assert.ok(root !== elsewhere);
    assert.equal((await who()).size, 1);
  },
);
