import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readPlainFile, readPlainFileSync } from './plain-file.ts';

const ABOUT = { limitBytes: 100 };

test('I10: what lies in the place of a file is never waited for, followed, or taken for its absence', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'idunn-plain-'));
  t.after(() => rm(directory, { recursive: true }));
  const at = (name: string): string => join(directory, name);
  await writeFile(at('plain'), 'words');
  await writeFile(at('large'), '');
  await truncate(at('large'), 101);
  await mkdir(at('directory'));
  await symlink(at('plain'), at('link'));
  execFileSync('mkfifo', [at('pipe')]);
  const read = {
    later: (file: string, more = {}) => readPlainFile(file, { ...ABOUT, ...more }),
    atOnce: async (file: string, more = {}) => readPlainFileSync(file, { ...ABOUT, ...more }),
  };
  for (const reads of Object.values(read)) {
    assert.equal((await reads(at('plain')))?.toString(), 'words');
    assert.equal(await reads(at('nothing')), null);
    await assert.rejects(reads(at('large')), /larger than 100 bytes/);
    await assert.rejects(reads(at('directory')), /is no plain file/);
    await assert.rejects(reads(at('pipe')), /is no plain file/);
    await assert.rejects(reads(at('link')), /link is a symbolic link/);
    assert.equal((await reads(at('link'), { followLink: true }))?.toString(), 'words');
  }
});
