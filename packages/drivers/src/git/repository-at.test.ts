import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { codeOf, valueOf } from './testing/bench.ts';
import { asRoot, STRANGER, separated } from './testing/separated.ts';

const run = promisify(execFile);

/** A root daemon's source, and a directory that everybody can enter beside its origin. */
async function ground(context: TestContext) {
  const base = await separated(context);
  const open = join(base.root, 'open');
  await mkdir(open, { mode: 0o755 });
  const git = (...words: string[]) => run('/usr/bin/git', words);
  const linked = async (from: string, to: string) =>
    git('-C', from, 'worktree', 'add', '--quiet', '--detach', to, 'main');
  const give = (path: string) => run('chown', ['-R', `${STRANGER}`, path]);
  return { ...base, open, git, linked, give, read: (origin: string) => base.resolve({ origin }) };
}

test('what root owns is read wherever git finds its data', asRoot, async (context) => {
  const { repository, open, git, linked, read } = await ground(context);
  const [worktree, bare, moved] = [join(open, 'worktree'), join(open, 'bare.git'), join(open, 'moved')];
  await linked(repository.path, worktree);
  await git('clone', '--quiet', '--bare', repository.path, bare);
  await git('clone', '--quiet', repository.path, moved);
  await rename(join(moved, '.git'), join(open, 'data'));
  await symlink('../data', join(moved, '.git'));
  for (const origin of [worktree, bare, join(open, 'bare'), moved]) {
    assert.equal(valueOf(await read(origin)).facts.origin, origin);
  }
  // As the work tree of a submodule has it.
  await mkdir(join(open, 'part'));
  await writeFile(join(open, 'part/.git'), 'gitdir: ../data\n');
  valueOf(await read(join(open, 'part')));
});

test('I11: no word of a stranger decides what is read in root’s place', asRoot, async (context) => {
  const { repository, open, git, linked, give, read } = await ground(context);
  const theirs = join(open, 'theirs.git');
  await git('clone', '--quiet', '--bare', repository.path, theirs);
  await give(theirs);
  const pointing = join(open, 'pointing');
  await mkdir(pointing);
  await writeFile(join(pointing, '.git'), `gitdir: ${theirs}\n`);
  // Git looks for `theirs.git` where `theirs` is none.
  await mkdir(join(open, 'theirs'));
  const worktree = join(open, 'worktree');
  await linked(repository.path, worktree);
  await give(join(worktree, '.git'));
  for (const origin of [theirs, pointing, join(open, 'theirs'), worktree]) {
    assert.equal(codeOf(await read(origin)), 'source-origin-foreign', origin);
  }
  await run('chown', ['-R', '0', theirs]);
  for (const origin of [theirs, pointing, join(open, 'theirs')]) valueOf(await read(origin));
});

test(
  'a linked worktree is refused by the directory that is closed, here or where its data is',
  asRoot,
  async (context) => {
    const { repository, open, git, linked, read } = await ground(context);
    const closed = join(open, 'closed');
    await mkdir(closed, { mode: 0o700 });
    const [here, there, app] = [join(closed, 'worktree'), join(open, 'worktree'), join(closed, 'app')];
    await git('clone', '--quiet', repository.path, app);
    await linked(repository.path, here);
    await linked(app, there);
    for (const origin of [here, there]) {
      const refusal = JSON.stringify(await read(origin));
      assert.match(refusal, /source-closed/);
      assert.ok(refusal.includes(`cannot enter ${closed} on the way into ${origin}`), refusal);
    }
    await chmod(closed, 0o711);
    valueOf(await read(there));
    await rename(app, `${app}.gone`);
    assert.match(JSON.stringify(await read(there)), /source-unreachable.+not a git repository/);
  },
);
