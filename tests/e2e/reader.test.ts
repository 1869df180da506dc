import assert from 'node:assert/strict';
import { appendFile, chmod, chown, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Fleet, makeFleet, refusalOf } from './lib/fleet.ts';
import { IS_ROOT } from './lib/users.ts';

/** Every Debian has it, and no more than that. */
const READER = { name: 'nobody', uid: 65_534 };
const STRANGER = 12_345;

const name = ({ directory }: Fleet, reader: string): Promise<void> =>
  appendFile(join(directory, 'fleet.toml'), `\n[source]\nreader = "${reader}"\n`);

const doctor = async (fleet: Fleet): Promise<string> => (await fleet.idunn('doctor')).out;

async function isReadApart(fleet: Fleet): Promise<void> {
  const [caches = ''] = (await readdir(join(fleet.work, 'cache/git'))).filter((entry) => entry.startsWith('reader-'));
  const { uid } = await stat(join(fleet.work, 'cache/git', caches, 'ghostlight.git/HEAD'));
  assert.equal(caches, `reader-${uid}`);
  assert.notEqual(uid, 0);
  for (const entry of await readdir(join(fleet.work, 'releases'), { recursive: true })) {
    assert.equal((await stat(join(fleet.work, 'releases', entry))).uid, 0, entry);
  }
}

test('a root daemon whose fleet names no reader has one all the same', { skip: !IS_ROOT }, async (t) => {
  const fleet = await makeFleet(t);
  await fleet.daemon();
  const up = await fleet.up('ghostlight');
  assert.equal(up.code, 0, JSON.stringify(up.outcome));
  await isReadApart(fleet);
  assert.match(await doctor(fleet), /git reader.*read as (?:idunn-reader|nobody), .*all readable: 1/);
});

test('a root daemon deploys from where only root can go, as the reader that its fleet names', {
  skip: !IS_ROOT,
}, async (t) => {
  const fleet = await makeFleet(t);
  await chmod(fleet.work, 0o700);
  await name(fleet, READER.name);
  await fleet.daemon();
  const up = await fleet.up('ghostlight');
  assert.equal(up.code, 0, JSON.stringify(up.outcome));
  await isReadApart(fleet);
  assert.equal((await stat(fleet.work)).mode & 0o777, 0o700);
  assert.match(await doctor(fleet), /git reader.*read as nobody, .*all readable: 1/);
  const checked = await fleet.idunn('verify', 'ghostlight', '--source', '--json');
  assert.equal(checked.code, 0, checked.out);
});

test('what the reader cannot read is refused by name, and doctor knows it before', { skip: !IS_ROOT }, async (t) => {
  const fleet = await makeFleet(t);
  await fleet.daemon();
  await chown(fleet.repository, STRANGER, STRANGER);
  assert.match(await doctor(fleet), /git reader.*belongs to another user/);
  await chown(fleet.repository, 0, 0);
  const objects = join(fleet.repository, '.git/objects');
  await chmod(objects, 0o700);
  assert.match(await doctor(fleet), /git reader.*cannot read/);
  const up = await fleet.up('ghostlight');
  assert.equal(up.code, 3, JSON.stringify(up.outcome));
  assert.equal(refusalOf(up.outcome).code, 'source-closed');
  assert.ok(refusalOf(up.outcome).reason.includes(objects));
  await chmod(objects, 0o755);
  assert.equal((await fleet.up('ghostlight')).code, 0);
});
