import assert from 'node:assert/strict';
import { chmod, chown, mkdir, mkdtemp, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { absent, digestBytes, type Evidence, seen } from '@idunn/kernel';
import { createStops, stopFile } from './port.ts';
import { readStop, type StopFile } from './read.ts';
import { encodeStop, type StopRecord, WHOLE_FLEET } from './record.ts';
import { makeStopDirectory, writeStop } from './write.ts';

const UID = process.geteuid?.() ?? 0;
/** An account that is certainly not ours. */
const OTHER = UID + 1;

const record = (more: Partial<Omit<StopRecord, 'schema'>> = {}): StopRecord => ({
  schema: 'idunn.freeze/v1',
  target: 'app',
  state: 'engaged',
  by: 'ada',
  reason: 'release day',
  since: '2026-11-30T00:00:00Z',
  sequence: 1,
  ...more,
});

async function bench(t: TestContext, uidOf: (login: string) => Promise<Evidence<number>> = async () => absent) {
  const state = await mkdtemp(join(tmpdir(), 'idunn-stops-'));
  t.after(() => rm(state, { recursive: true }));
  for (const kind of ['freezes', 'holds']) await makeStopDirectory(join(state, kind));
  const stops = createStops({ state, uid: UID, uidOf });
  const about: StopFile = { file: stopFile(state, 'freeze', 'app'), kind: 'freeze', target: 'app', ownerUid: UID };
  return { state, stops, about };
}

const change = (state: StopRecord['state'], reason = 'release day') =>
  ({ state, by: 'ada', reason, since: '2026-11-30T00:00:00.000Z', freshId: 'draft-1' }) as const;

test('I8: a missing record admits, an engaged one holds, a cleared one admits; each verb is counted', async (t) => {
  const { stops, about } = await bench(t);
  assert.deepEqual(await stops.read('app', null), absent);
  const engaged = await writeStop(about, change('engaged'));
  assert.ok(engaged.ok);
  const held = await stops.read('app', null);
  assert.ok(held.kind === 'seen');
  assert.deepEqual(
    [held.value.by, held.value.reason, held.value.clearedBy],
    ['ada', 'release day', 'idunn freeze clear app'],
  );
  assert.equal(held.value.record, digestBytes(encodeStop(engaged.value)));
  assert.deepEqual(await stops.readHold('app'), absent, 'a freeze is no hold');
  const cleared = await writeStop(about, change('clear'));
  assert.ok(cleared.ok && cleared.value.sequence === 2);
  assert.deepEqual(await stops.read('app', null), absent);
  assert.deepEqual(await stops.read('other', null), absent);
});

const UNREADABLE: Readonly<Record<string, (about: StopFile, state: string) => Promise<unknown>>> = {
  'a missing directory': (_, state) => rename(join(state, 'freezes'), join(state, 'elsewhere')),
  'a file in place of the directory': async (_, state) => {
    await rename(join(state, 'freezes'), join(state, 'elsewhere'));
    await writeFile(join(state, 'freezes'), '');
  },
  'a symbolic link': async ({ file }) => {
    await writeFile(`${file}.away`, encodeStop(record({ state: 'clear' })));
    await symlink(`${file}.away`, file);
  },
  'an empty file': ({ file }) => writeFile(file, ''),
  'a file that is no record': ({ file }) => writeFile(file, '{}'),
  'a record of another version': ({ file }) =>
    writeFile(file, JSON.stringify({ ...record(), schema: 'idunn.freeze/v2' })),
  'a record of the other kind': ({ file }) => writeFile(file, JSON.stringify({ ...record(), schema: 'idunn.hold/v1' })),
  'another target’s record': ({ file }) => writeFile(file, encodeStop(record({ target: 'other', state: 'clear' }))),
  'a record that is too large': ({ file }) => writeFile(file, 'x'.repeat(20_000)),
  'a directory in its place': ({ file }) => mkdir(file),
};

for (const [what, make] of Object.entries(UNREADABLE)) {
  test(`I8, I10: ${what} cannot be judged, and holds`, async (t) => {
    const { state, stops, about } = await bench(t);
    await make(about, state);
    const read = await stops.read('app', null);
    assert.equal(read.kind, 'unknown');
    assert.match(read.kind === 'unknown' ? read.because : '', /idunn freeze clear app/);
  });
}

test('I8: a record that somebody else owns proves nothing, whatever it says', async (t) => {
  const { about } = await bench(t);
  await writeFile(about.file, encodeStop(record({ state: 'clear' })));
  const read = await readStop({ ...about, ownerUid: OTHER });
  assert.equal(read.kind, 'unknown');
  assert.match(read.kind === 'unknown' ? read.because : '', new RegExp(`belongs to uid ${UID}, not to uid ${OTHER}`));
});

test('I8, I10: a directory that may not be searched holds', async (t) => {
  const { state, about } = await bench(t);
  // Root searches everything; the same answer of the system is what any other user gets.
  if (UID === 0) {
    const read = await readStop({ ...about, file: '/proc/1/task/1/nothing/here/freeze.json' });
    return assert.equal(read.kind, 'unknown');
  }
  await chmod(join(state, 'freezes'), 0);
  t.after(() => chmod(join(state, 'freezes'), 0o700));
  assert.equal((await readStop(about)).kind, 'unknown');
});

test('clearing replaces what could not be read', async (t) => {
  const { stops, about } = await bench(t);
  await writeFile(about.file, 'torn');
  assert.ok((await writeStop(about, change('clear'))).ok);
  assert.deepEqual(await stops.read('app', null), absent);
});

test('a stop whose directory is not there is not written', async (t) => {
  const { about, state } = await bench(t);
  const written = await writeStop({ ...about, file: join(state, 'nowhere/freeze.json') }, change('engaged'));
  assert.equal(written.ok ? null : written.refusal.code, 'stop-not-written');
});

/** Root is another user for a moment; anybody else is who they are. */
async function as<T>(uid: number, act: () => Promise<T>): Promise<T> {
  if (UID === 0) process.seteuid?.(uid);
  try {
    return await act();
  } finally {
    process.seteuid?.(UID);
  }
}

test('F28: a record whose directory is not confirmed is told as that, and counts as it stands', async (t) => {
  const { about, state } = await bench(t);
  const directory = join(state, 'freezes');
  const writer = { ...about, ownerUid: UID === 0 ? 65_534 : UID };
  await chmod(state, 0o711);
  if (UID === 0) await chown(directory, writer.ownerUid, writer.ownerUid);
  // It may be written into and searched, and not be opened: so nobody but root can sync it.
  await chmod(directory, 0o300);
  const written = await as(writer.ownerUid, () => writeStop(writer, change('engaged')));
  await chmod(directory, 0o700);
  assert.ok(!written.ok && written.refusal.code === 'stop-not-durable', JSON.stringify(written));
  const read = await readStop(writer);
  assert.ok(read.kind === 'seen' && read.value.record.state === 'engaged');
});

test('a directory in the place of a record, or a file in that of its directory, is told to be moved', async (t) => {
  const { state, about } = await bench(t);
  await mkdir(about.file);
  const inPlace = await writeStop(about, change('clear'));
  assert.ok(!inPlace.ok && inPlace.refusal.code === 'stop-not-written');
  assert.match(inPlace.refusal.remedy, /^Move the directory .+app.json away/);
  await rename(join(state, 'freezes'), join(state, 'elsewhere'));
  await writeFile(join(state, 'freezes'), '');
  const made = await makeStopDirectory(join(state, 'freezes'));
  assert.ok(!made.ok && made.refusal.code === 'stop-not-written');
  assert.match(made.refusal.remedy, /^Move away what lies in the place of .+freezes/);
});

test('I8: a record can be read by a daemon that is another user, whatever the umask of who writes it', async (t) => {
  const { about } = await bench(t);
  const before = process.umask(0o077);
  t.after(() => process.umask(before));
  assert.ok((await writeStop(about, change('engaged'))).ok);
  assert.equal((await stat(about.file)).mode & 0o777, 0o644);
});

test('I8: who is not the owner of a record changes nothing, for their word would not count', async (t) => {
  const { about, stops } = await bench(t);
  await writeStop(about, change('engaged'));
  const cleared = await writeStop({ ...about, ownerUid: OTHER }, change('clear'));
  assert.ok(!cleared.ok && cleared.refusal.code === 'stop-not-written');
  assert.match(cleared.refusal.reason, new RegExp(`is for uid ${OTHER} to write, and this is uid ${UID}`));
  assert.equal((await stops.read('app', null)).kind, 'seen');
});

test('I8: the whole fleet’s freeze holds every target, and each stop is named with its own command', async (t) => {
  const { stops, about, state } = await bench(t);
  const fleet = { ...about, file: stopFile(state, 'freeze', WHOLE_FLEET), target: WHOLE_FLEET };
  await writeStop(fleet, change('engaged', 'incident 7'));
  const other = await stops.read('other', null);
  assert.equal(other.kind === 'seen' ? other.value.clearedBy : null, 'idunn freeze clear --fleet');
  await writeStop(about, change('engaged'));
  const both = await stops.read('app', null);
  assert.ok(both.kind === 'seen');
  assert.deepEqual(
    [both.value, ...(both.value.also ?? [])].map(({ reason, clearedBy }) => [reason, clearedBy]),
    [
      ['release day', 'idunn freeze clear app'],
      ['incident 7', 'idunn freeze clear --fleet'],
    ],
  );
});

test('I8: a steward’s freeze holds too, is named by the binding, and only its owner clears it', async (t) => {
  const { stops, state, about } = await bench(t, async (login) => (login === 'grace' ? seen(OTHER) : absent));
  await mkdir(join(state, 'grace'));
  const store = join(state, 'grace/freeze.json');
  const steward = { user: 'grace', store };
  assert.deepEqual(await stops.read('app', steward), absent);
  await writeFile(store, encodeStop(record({ by: 'the operator', reason: 'rehearsals' })));
  const byUs = await stops.read('app', steward);
  assert.equal(byUs.kind, 'unknown', 'the operator cannot speak for the steward, not even to clear');
  if (UID === 0) {
    assert.match(byUs.kind === 'unknown' ? byUs.because : '', /root repaired must be cleared by its owner/);
    await chown(store, OTHER, OTHER);
    const held = await stops.read('app', steward);
    assert.ok(held.kind === 'seen');
    assert.equal(held.value.by, 'its steward grace', 'never the record’s own words');
    assert.match(held.value.clearedBy, /as grace: idunn freeze clear --store .*freeze\.json --target-id app/);
    await writeStop(about, change('clear'));
    assert.equal(
      (await stops.read('app', steward)).kind,
      'seen',
      'the operator’s clear clears nothing of the steward’s',
    );
  }
});

test('I8, I10: a steward that does not resolve, or is root, is unreadable', async (t) => {
  const gone = await bench(t);
  const steward = { user: 'grace', store: join(gone.state, 'freezes/s.json') };
  assert.equal((await gone.stops.read('app', steward)).kind, 'unknown');
  const root = await bench(t, async () => seen(0));
  assert.equal(
    (await root.stops.read('app', { ...steward, store: join(root.state, 'freezes/s.json') })).kind,
    'unknown',
  );
});
