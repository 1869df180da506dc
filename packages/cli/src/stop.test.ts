import assert from 'node:assert/strict';
import { chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { EXIT } from './exit.ts';
import { run } from './run.ts';
import { stage } from './testing/stage.ts';

/** A fleet without a daemon that answers, and the command over it. */
async function bench(t: TestContext) {
  const { fleet, environment, out, err } = await stage(t, {});
  const idunn = async (...words: readonly string[]) => {
    out.length = 0;
    err.length = 0;
    // The fleet is told by its variable: here --fleet without a directory means all targets.
    const variable = (name: string): string | undefined => (name === 'IDUNN_FLEET' ? fleet : undefined);
    const code = await run({ ...environment([]), argv: words, variable });
    return { code, out: out.join(''), err: err.join('') };
  };
  return { fleet, idunn };
}

test('a freeze is engaged, shown and cleared without a daemon, by who ran the command', async (t) => {
  const { fleet, idunn } = await bench(t);
  await idunn('freeze', 'clear', 'observer');
  assert.match(
    (await idunn('freeze', 'status', 'ghostlight')).out,
    /absent: this freeze stops no deployments of ghostlight/,
  );
  const engaged = await idunn('freeze', 'engage', 'ghostlight', '--reason', 'release day');
  assert.equal(engaged.code, EXIT.done);
  assert.match(engaged.out, /engaged: deployments of ghostlight wait, by ada since 2026-11-30.*: release day/);
  const file = join(fleet, 'state/freezes/ghostlight.json');
  assert.equal((JSON.parse(await readFile(file, 'utf8')) as { by: string }).by, 'ada');
  assert.equal((await idunn('freeze', 'clear', 'ghostlight')).code, EXIT.done);
  assert.match((await idunn('freeze', 'status', 'ghostlight', '--json')).out, /"state":"clear"/);
});

test('--fleet without a directory is every target; a hold is a record of its own', async (t) => {
  const { fleet, idunn } = await bench(t);
  assert.equal((await idunn('hold', 'engage', '--fleet', '--reason', 'moving house')).code, EXIT.done);
  assert.match(await readFile(join(fleet, 'state/holds/_fleet.json'), 'utf8'), /"idunn.hold\/v1"/);
  assert.match((await idunn('hold', 'status', '--fleet')).out, /restarts of the whole fleet wait/);
  assert.match((await idunn('freeze', 'status', '--fleet')).out, /unreadable/, 'its directory is not there yet');
});

test('--store speaks to one record without a fleet; what is not ours is told, and no success', async (t) => {
  const { fleet, idunn } = await bench(t);
  const words = ['--store', join(fleet, 'state-of-grace.json'), '--target-id', 'app'];
  assert.equal((await idunn('freeze', 'engage', ...words, '--reason', 'rehearsals')).code, EXIT.done);
  assert.match((await idunn('freeze', 'status', ...words)).out, /engaged: deployments of app wait/);
  const daemon = await idunn('freeze', 'status', ...words, '--owner-user', 'daemon');
  assert.match(daemon.out, /unreadable: .*belongs to uid/);
  const cleared = await idunn('freeze', 'clear', ...words, '--owner-user', 'daemon');
  assert.equal(cleared.code, EXIT.refused);
  assert.match(cleared.err, /stop-not-written: .* is for uid \d+ to write, .*nothing was changed/);
  assert.match((await idunn('freeze', 'status', ...words)).out, /engaged/);
});

test('I8: a stop on a target that there is not is refused, because it would stop nothing', async (t) => {
  const { fleet, idunn } = await bench(t);
  for (const verb of ['engage', 'clear', 'status']) {
    const reason = verb === 'engage' ? ['--reason', 'release day'] : [];
    const { code, err } = await idunn('freeze', verb, 'ghostligth', ...reason);
    assert.equal(code, EXIT.refused, verb);
    assert.match(err, /target-unknown.+ghostligth\n[^]*Did you mean ghostlight\?/);
  }
  await assert.rejects(readFile(join(fleet, 'state/freezes/ghostligth.json')), { code: 'ENOENT' });
  // Of a target whose binding went away, what lies there is cleared; without a list of bindings nothing keeps a stop.
  assert.equal((await idunn('hold', 'engage', 'ghostlight', '--reason', 'moving')).code, EXIT.done);
  await rename(join(fleet, 'bindings/ghostlight.toml'), join(fleet, 'bindings/other.toml'));
  assert.equal((await idunn('hold', 'clear', 'ghostlight')).code, EXIT.done);
  await rm(join(fleet, 'bindings'), { recursive: true });
  assert.equal((await idunn('freeze', 'engage', 'anything', '--reason', 'release day')).code, EXIT.done);
});

test('I8: the whole fleet’s stop is shown with that of a target, which it holds as well', async (t) => {
  const { idunn } = await bench(t);
  await idunn('freeze', 'engage', '--fleet', '--reason', 'moving house');
  const { out } = await idunn('freeze', 'clear', 'ghostlight');
  assert.match(out, /clear: .+ghostlight.+\n.+engaged: deployments of the whole fleet wait, .+: moving house\n$/);
  const json = JSON.parse((await idunn('freeze', 'status', 'ghostlight', '--json')).out) as {
    also: { clearedBy: string }[];
  };
  assert.deepEqual(
    json.also.map(({ clearedBy }) => clearedBy),
    ['idunn freeze clear --fleet'],
  );
  await idunn('freeze', 'clear', '--fleet');
  assert.doesNotMatch((await idunn('freeze', 'status', 'ghostlight')).out, /whole fleet/);
});

test('I8: root does not speak for who owns the directory of a record', async (t) => {
  if (process.geteuid?.() !== 0) return t.diagnostic('only root can write where another user owns');
  const { fleet, idunn } = await bench(t);
  await idunn('freeze', 'engage', 'ghostlight', '--reason', 'release day');
  const file = join(fleet, 'state/freezes/ghostlight.json');
  for (const path of [file, dirname(file)]) await chown(path, 12_345, 12_345);
  const store = ['--store', file, '--target-id', 'ghostlight'];
  for (const words of [['ghostlight'], store]) {
    assert.match((await idunn('freeze', 'status', ...words)).out, /engaged: .+ by ada/);
    const { code, err } = await idunn('freeze', 'clear', ...words);
    assert.equal(code, EXIT.refused);
    assert.match(err, /stop-not-written: .+ is for uid 12345 to write, and this is uid 0/);
  }
});

test('what lies in the place of the directory of stops is told without a trace', async (t) => {
  const { fleet, idunn } = await bench(t);
  await mkdir(join(fleet, 'state'));
  await writeFile(join(fleet, 'state/freezes'), '');
  const { code, err } = await idunn('freeze', 'engage', 'ghostlight', '--reason', 'release day');
  assert.equal(code, EXIT.refused);
  assert.match(err, /stop-not-written: [^]*what to do: Move away what lies in the place of .+freezes/);
});

test('what is written as a reason cannot steer the terminal of who reads it', async (t) => {
  const { idunn } = await bench(t);
  const reason = 'a look\u001b[2J\u202e\nnothing is frozen';
  const { out } = await idunn('freeze', 'engage', 'ghostlight', '--reason', reason);
  assert.match(out, /: a look·\[2J··nothing is frozen\n$/);
});

test('I10: a record that cannot be read is shown as one that holds', async (t) => {
  const { fleet, idunn } = await bench(t);
  const file = join(fleet, 'torn.json');
  await writeFile(file, '');
  assert.match(
    (await idunn('freeze', 'status', '--store', file, '--target-id', 'app')).out,
    /: .* is empty\n.*\n  what to do: as the owner .*: idunn freeze clear --store .*torn.json --target-id app;/,
  );
});

test('words that name no record, or two, are refused before anything is written', async (t) => {
  const { idunn } = await bench(t);
  const wrong = [
    ['freeze', 'engage', 'ghostlight'],
    ['freeze', 'status'],
    ['freeze', 'status', 'ghostlight', '--fleet'],
    ['freeze', 'clear', '--store', '/x'],
    ['hold', 'clear', 'ghostlight', '--target-id', 'app'],
    ['hold', 'engage', 'ghostlight', '--store', '/x', '--target-id', 'app', '--reason', 'r'],
    ['freeze', 'status', '--store', '/x', '--target-id', 'app', '--owner-user', 'nobody-here'],
  ];
  for (const words of wrong) assert.equal((await idunn(...words)).code, EXIT.usage, words.join(' '));
});
