import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, chown, cp, mkdir, readFile, rename, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import type { GitSourceOptions } from './source.ts';
import { codeOf, never, valueOf } from './testing/bench.ts';
import { temporary } from './testing/repository.ts';
import { asRoot, READER, STRANGER, separated } from './testing/separated.ts';

const run = promisify(execFile);

/** A directory that is closed to all but its owner, and in it, two directories deep, a copy of the repository. */
async function closedGround(context: TestContext, before = '', options: Partial<GitSourceOptions> = {}) {
  const base = await separated(context, {}, before, options);
  const closed = join(base.root, 'closed');
  const origin = join(closed, 'deep/app');
  await mkdir(join(closed, 'deep'), { recursive: true, mode: 0o755 });
  await cp(base.repository.path, origin, { recursive: true });
  await chmod(closed, 0o700);
  return { ...base, closed, origin, read: () => base.resolve({ origin }) };
}

test('what lies behind a directory that root has closed is read, as the reader', asRoot, async (context) => {
  const { closed, origin, read, stage, who, source } = await closedGround(context);
  const resolved = valueOf(await read());
  assert.equal(resolved.facts.origin, origin);
  valueOf(await stage(resolved));
  assert.equal(await source.readable(origin, never()).then(valueOf), 'readable');
  assert.deepEqual(await who(), new Set([`${READER.uid} ${READER.uid} ${READER.uid}`]));
  // Nothing was opened for anybody else.
  assert.equal((await stat(closed)).mode & 0o777, 0o700);
});

test(
  'I11: of what root has closed the reader sees that repository alone, and can only read it',
  asRoot,
  async (context) => {
    const tools = await temporary(context);
    const [script, seen] = [join(tools, 'look'), join(tools, 'seen')];
    await writeFile(seen, '');
    await chmod(seen, 0o666);
    const { closed, origin, read } = await closedGround(context, `${script} 2>/dev/null`);
    await writeFile(
      script,
      `#!/bin/sh\n(cd ${closed} && find . -maxdepth 3 | sort && touch deep/app/.git/trace && echo wrote) >> ${seen}\n`,
    );
    await chmod(script, 0o755);
    await cp(origin, join(closed, 'deep/other'), { recursive: true });
    // Even of what is the reader's own.
    await run('chown', ['-R', `${READER.uid}`, join(origin, '.git')]);
    valueOf(await read());
    const told = await readFile(seen, 'utf8');
    assert.match(told, /^\.\/deep\/app\/\.git$/m);
    assert.doesNotMatch(told, /other|main\.js|src|wrote/);
    // The control: without the closed directory there is no sandbox around git, and it sees and writes what it may.
    await chmod(closed, 0o755);
    valueOf(await read());
    assert.match(await readFile(seen, 'utf8'), /other[\s\S]+wrote/);
  },
);

test('I11: no borrowed objects are read from behind a directory that root has closed', asRoot, async (context) => {
  const { origin, closed, repository, read } = await closedGround(context);
  const lender = join(closed, 'deep/lender');
  await rename(join(origin, '.git/objects'), lender);
  await mkdir(join(origin, '.git/objects/info'), { recursive: true });
  await writeFile(join(origin, '.git/objects/info/alternates'), `${lender}\n`);
  assert.equal(codeOf(await read()), 'source-unreachable');
  // The control: root has them.
  assert.match(await repository.git('-C', origin, 'cat-file', '-t', 'main'), /commit/);
});

test('what another user has closed is that user’s to open, and is named', asRoot, async (context) => {
  const { closed, origin, read, source } = await closedGround(context);
  await chown(closed, STRANGER, STRANGER);
  const refusedBy = JSON.stringify(await read());
  assert.match(refusedBy, /source-closed/);
  assert.ok(refusedBy.includes(`${READER.name} cannot enter ${closed} on the way into ${origin}`), refusedBy);
  assert.equal(codeOf(await source.readable(origin, never())), 'source-closed');
  // The remedy, as it is told.
  const [, remedy = ''] = /setfacl (-m \S+ [^,]+),/.exec(refusedBy) ?? [];
  await run('setfacl', remedy.split(' '));
  valueOf(await read());
});

test('I11: no link and nobody but root decides where a way leads that the daemon opens', asRoot, async (context) => {
  const { closed, origin, read, resolve } = await closedGround(context);
  const link = join(closed, 'link');
  await symlink('deep', link);
  assert.equal(codeOf(await resolve({ origin: join(link, 'app') })), 'source-closed');
  await chown(join(closed, 'deep'), STRANGER, STRANGER);
  assert.equal(codeOf(await read()), 'source-closed');
  await chown(join(closed, 'deep'), 0, 0);
  await chmod(join(closed, 'deep'), 0o777);
  assert.equal(codeOf(await read()), 'source-closed');
  await chmod(join(closed, 'deep'), 0o1777);
  valueOf(await read());
  // A stranger's repository stays a stranger's.
  await chown(join(origin, '.git'), STRANGER, STRANGER);
  assert.equal(codeOf(await read()), 'source-origin-foreign');
});

test('where no sandbox can be made the closed directory is named, with what would help', asRoot, async (context) => {
  const { closed, read } = await closedGround(context, '', { bubblewrap: null });
  const without = JSON.stringify(await read());
  assert.match(without, /source-closed.+Install bubblewrap/);
  assert.ok(without.includes(`cannot enter ${closed} `));
  const tools = await temporary(context);
  const bubblewrap = join(tools, 'bwrap');
  await writeFile(bubblewrap, '#!/bin/sh\necho "bwrap: No permissions to create a new namespace" >&2\nexit 1\n');
  await chmod(bubblewrap, 0o755);
  const barred = await closedGround(context, '', { bubblewrap });
  assert.match(JSON.stringify(await barred.read()), /source-closed.+Install bubblewrap.+No permissions/);
});

test('what a list of access rights keeps from the reader is named, whatever the modes say', asRoot, async (context) => {
  const { closed, origin, read, source } = await closedGround(context);
  await chmod(closed, 0o755);
  const git = join(origin, '.git');
  const places: readonly (readonly [string, string])[] = [
    [closed, 'cannot enter'],
    [join(git, 'objects'), 'cannot read'],
    [join(git, 'HEAD'), 'cannot read'],
  ];
  valueOf(await read());
  for (const [path, says] of places) {
    await run('setfacl', ['-m', `u:${READER.name}:---`, path]);
    assert.notEqual((await stat(path)).mode & 0o004, 0, 'the modes let everybody in');
    for (const outcome of [await read(), await source.readable(origin, never())]) {
      assert.equal(codeOf(outcome), 'source-closed', path);
      assert.ok(JSON.stringify(outcome).includes(`${READER.name} ${says} ${path} `), JSON.stringify(outcome));
    }
    // The remedy, as it is told.
    const [, remedy = ''] = /setfacl (.*?-m \S+ [^,]+),/.exec(JSON.stringify(await read())) ?? [];
    await run('setfacl', remedy.split(' '));
    valueOf(await read());
  }
  // What is broken for everybody is no matter of rights.
  await writeFile(join(git, 'HEAD'), 'no ref');
  assert.equal(codeOf(await read()), 'source-unreachable');
});

test('what only root can read in a repository is refused by its path', asRoot, async (context) => {
  const { repository, resolve } = await separated(context);
  for (const part of ['.git', '.git/objects', '.git/refs/heads/main', '.git/HEAD']) {
    const path = join(repository.path, part);
    const { mode } = await stat(path);
    await chmod(path, mode & 0o700);
    const outcome = JSON.stringify(await resolve());
    assert.match(outcome, /source-closed/, part);
    assert.ok(outcome.includes(`cannot read ${path} in ${repository.path}`), outcome);
    await chmod(path, mode);
  }
  valueOf(await resolve());
});
