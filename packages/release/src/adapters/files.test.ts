import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { removeTree } from './files.ts';
import { walk } from './walk.ts';

/** Goes down and down, further than any path leads. */
const DIG = `for (let depth = 0; depth < 40; depth++) {
  const name = 'd'.repeat(200);
  require('node:fs').mkdirSync(name);
  process.chdir(name);
}`;

test('F1: no name that a step can give keeps a stage from being deleted', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'idunn-files-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  const tree = join(root, 'tree');
  const kept = join(root, 'kept');
  await writeFile(kept, 'kept');
  await mkdir(join(tree, 'closed/inner'), { recursive: true });
  await symlink(kept, join(tree, 'link'));
  await writeFile(Buffer.concat([Buffer.from(`${tree}/`), Buffer.from([0xff, 0xfe, 0x0a])]), 'x');
  await mkdir(Buffer.concat([Buffer.from(`${tree}/dir-`), Buffer.from([0xc3, 0x28])]));
  execFileSync(process.execPath, ['-e', DIG], { cwd: tree });
  await chmod(join(tree, 'closed'), 0o000);
  await removeTree(tree);
  assert.equal(existsSync(tree), false);
  assert.equal(existsSync(kept), true);
  await removeTree(tree);
});

test('a name that is no text is told as one, and nothing is read through it', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'idunn-files-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  await writeFile(join(root, 'plain'), 'x');
  await writeFile(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff])]), 'x');
  const entries = await walk(root);
  assert.deepEqual(
    entries.map(({ kind, path }) => [kind, path]),
    [
      ['other', '\u{fffd}'],
      ['file', 'plain'],
    ],
  );
});
