import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMounts, secondFace, unfitFileSystem } from './mounts.ts';

const MOUNTS = parseMounts(`
36 35 98:0 / / rw,noatime - ext4 /dev/root rw
37 36 98:0 /db /srv/my\\040app/app.db rw - ext4 /dev/root rw
38 36 0:55 / /merged rw - overlay overlay rw,lowerdir=/var/low1:/var/low2,upperdir=/var/up,workdir=/var/work
`);

test('I1: a store that is a mount point, or lies in a layer of an overlay, has a second face', () => {
  assert.match(secondFace('/srv/my app/app.db', MOUNTS) ?? '', /mount point of its own/);
  for (const layer of ['/var/low1', '/var/low2', '/var/up']) {
    assert.match(secondFace(`${layer}/app.db`, MOUNTS) ?? '', /overlay \/merged/);
  }
  for (const path of ['/srv/my app/other.db', '/merged/app.db', '/var/low10/app.db']) {
    assert.equal(secondFace(path, MOUNTS), null);
  }
});

test('file systems on which SQLite cannot order its writers are known by name', () => {
  assert.equal(unfitFileSystem(0x6969), 'NFS');
  assert.equal(unfitFileSystem(-11317950), 'CIFS');
  assert.equal(unfitFileSystem(0xef53), null);
});
