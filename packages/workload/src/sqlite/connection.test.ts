import assert from 'node:assert/strict';
import { linkSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { IdunnError } from '../errors.ts';
import { makeStore, scratch } from '../testing/authority.ts';
import { code } from '../testing/code.ts';
import { StoreConnection } from './connection.ts';
import type { SqliteDriver } from './driver.ts';
import { nodeSqlite } from './node-sqlite.ts';
import type { Rule } from './rules.ts';
import { inspectStoreFile, mountPoints } from './store-file.ts';

/** Opens what `arrange` prepared, with all rules and without one; answers both ends. */
function opening(t: TestContext, rule: Rule, arrange: (directory: string) => { path: string; driver?: SqliteDriver }) {
  const attempt = (without: ReadonlySet<Rule>): string => {
    const { path, driver } = arrange(scratch(t));
    try {
      new StoreConnection(path, driver ?? nodeSqlite, without).close();
      return 'opened';
    } catch (error) {
      return error instanceof IdunnError ? error.code : String(error);
    }
  };
  return { held: attempt(new Set()), without: attempt(new Set([rule])) };
}

test('I1: only WAL is opened', (t) => {
  const ends = opening(t, 'wal-only', (directory) => {
    const path = join(directory, 'world.db');
    makeStore(path);
    const database = new DatabaseSync(path);
    database.exec('PRAGMA journal_mode=DELETE');
    database.close();
    return { path };
  });
  assert.deepEqual(ends, { held: 'workload-store-not-wal', without: 'opened' });
});

test('I1: locking_mode=EXCLUSIVE is refused', (t) => {
  const exclusive: SqliteDriver = {
    name: 'exclusive',
    open(path, busyTimeoutMs) {
      const connection = nodeSqlite.open(path, busyTimeoutMs);
      connection.exec('PRAGMA locking_mode=EXCLUSIVE');
      return connection;
    },
  };
  const ends = opening(t, 'locking-mode-normal', (directory) => {
    const path = join(directory, 'world.db');
    makeStore(path);
    return { path, driver: exclusive };
  });
  assert.deepEqual(ends, { held: 'workload-store-locking', without: 'opened' });
});

test('I1: a URI is refused, whatever its parameters', (t) => {
  const path = join(scratch(t), 'world.db');
  makeStore(path);
  for (const parameters of ['', '?vfs=unix-none', '?nolock=1', '?immutable=1', '?mode=rwc']) {
    assert.throws(() => new StoreConnection(`file:${path}${parameters}`, nodeSqlite), code('workload-store-uri'));
  }
  // Without the rule the URI gets as far as the file system, which is no protection at all.
  assert.throws(
    () => new StoreConnection(`file:${path}?nolock=1`, nodeSqlite, new Set(['no-uri'])),
    code('workload-store-not-a-plain-file'),
  );
  new StoreConnection(path, nodeSqlite).close();
});

test('I1: a store with a second link is refused', (t) => {
  const ends = opening(t, 'one-link', (directory) => {
    const path = join(directory, 'world.db');
    makeStore(path);
    linkSync(path, join(directory, 'second.db'));
    return { path };
  });
  assert.deepEqual(ends, { held: 'workload-store-not-a-plain-file', without: 'opened' });
});

test('I1: a symbolic link, a missing file and a file without the lease tables are refused', (t) => {
  const directory = scratch(t);
  const path = join(directory, 'world.db');
  assert.throws(() => new StoreConnection(path, nodeSqlite), code('workload-store-not-a-plain-file'));
  makeStore(path);
  symlinkSync(path, join(directory, 'alias.db'));
  assert.throws(
    () => new StoreConnection(join(directory, 'alias.db'), nodeSqlite),
    code('workload-store-not-a-plain-file'),
  );
  const bare = join(directory, 'bare.db');
  const database = new DatabaseSync(bare);
  database.exec('PRAGMA journal_mode=WAL; CREATE TABLE t (x)');
  database.close();
  assert.throws(() => new StoreConnection(bare, nodeSqlite), code('workload-store-without-lease'));
});

test('I1: a directory that is reached through a link is the same database', (t) => {
  const directory = scratch(t);
  makeStore(join(directory, 'world.db'));
  symlinkSync(directory, join(directory, 'here'));
  new StoreConnection(join(directory, 'here', 'world.db'), nodeSqlite).close();
});

test('I1: a store that is a mount point of its own is refused', (t) => {
  const path = join(scratch(t), 'world.db');
  makeStore(path);
  const mountedOn = (point: string) => () => `36 21 8:1 /srv/x.db ${point} rw,relatime - ext4 /dev/sda1 rw\n`;
  assert.throws(() => inspectStoreFile(path, new Set(), mountedOn(path)), code('workload-store-mount-point'));
  inspectStoreFile(path, new Set(['no-mount-point']), mountedOn(path));
  inspectStoreFile(path, new Set(), mountedOn(dirname(path)));
});

test('I1: a mount point is found in mountinfo, spaces and all', () => {
  const mountInfo = [
    '21 1 8:1 / / rw - ext4 /dev/sda1 rw',
    '36 21 8:1 /srv/x.db /srv/my\\040state/world.db rw,relatime - ext4 /dev/sda1 rw',
    '',
  ].join('\n');
  assert.ok(mountPoints(mountInfo).has('/srv/my state/world.db'));
  assert.equal(mountPoints(mountInfo).has('/srv/my state'), false);
});
