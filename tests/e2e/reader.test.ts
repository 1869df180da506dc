import assert from 'node:assert/strict';
import { appendFile, chmod, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFleet } from './lib/fleet.ts';

const READER_UID = 65_534;

test('a root daemon reads repositories as the reader that its fleet names', {
  skip: process.getuid?.() !== 0,
}, async (t) => {
  const fleet = await makeFleet(t);
  await chmod(fleet.work, 0o755);
  await appendFile(join(fleet.directory, 'fleet.toml'), '\n[source]\nreader = "nobody"\n');
  await fleet.daemon();
  const up = await fleet.up('ghostlight');
  assert.equal(up.code, 0, JSON.stringify(up.outcome));
  const caches = join(fleet.work, 'cache/git', `reader-${READER_UID}`);
  assert.equal((await stat(join(caches, 'ghostlight.git/HEAD'))).uid, READER_UID);
  for (const name of await readdir(join(fleet.work, 'releases'), { recursive: true })) {
    assert.equal((await stat(join(fleet.work, 'releases', name))).uid, 0, name);
  }
  assert.match((await fleet.idunn('doctor')).out, /git reader.*repositories are read as nobody/);
});
