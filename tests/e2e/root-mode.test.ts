import assert from 'node:assert/strict';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFleet } from './lib/fleet.ts';
import { GHOSTLIGHT_USERS, IS_ROOT, separate } from './lib/users.ts';
import { json, type VersionAnswer, writers } from './lib/world.ts';

const uidOf = async (pid: number): Promise<string> =>
  /^Uid:\s+(.*)$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '';

test('a daemon of root deploys under load with users that take turns', { skip: !IS_ROOT }, async (t) => {
  const fleet = await makeFleet(t);
  await separate(fleet);
  await fleet.daemon();
  const first = await fleet.up('ghostlight');
  assert.equal(first.code, 0, JSON.stringify(first.outcome));
  const before = await json<VersionAnswer>(fleet.url, '/version');
  assert.equal(await uidOf(before.pid), '5\t5\t5\t5');
  const load = writers(fleet.url, 4);
  await fleet.edit('package.json', (text) => text.replace('"1.0.0"', '"1.0.1"'));
  const { code, outcome } = await fleet.up('ghostlight');
  assert.equal(code, 0, JSON.stringify(outcome));
  const { acked, failed } = await load.stop();
  assert.deepEqual(failed, []);
  assert.ok(acked.length > 20);
  const after = await json<VersionAnswer>(fleet.url, '/version');
  assert.equal(await uidOf(after.pid), '9\t9\t9\t9');
  const root = await stat(join(fleet.work, 'world'));
  assert.deepEqual([root.uid, root.gid, root.mode & 0o7777], [9, GHOSTLIGHT_USERS.gid, 0o2750]);
});
