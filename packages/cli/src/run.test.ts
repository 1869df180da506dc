import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run } from './run.ts';
import { refuseWith, stage } from './testing/stage.ts';

test('F6: help never acts, and arguments are checked before anything is asked', async (t) => {
  const { environment, asked, err } = await stage(t, {});
  for (const words of [
    ['up', '--help'],
    ['up', 'ghostlight', '--help'],
    ['takeover', '-h'],
    ['daemon', '--help'],
  ]) {
    assert.equal(await run(environment(words)), 0);
  }
  for (const words of [
    ['up'],
    ['up', 'Ghost/..'],
    ['up', 'ghostlight', '--unknown'],
    ['logs', 'ghostlight', '-n', 'x'],
    ['nonsense'],
  ]) {
    assert.equal(await run(environment(words)), 2, words.join(' '));
  }
  assert.equal(asked.length, 0);
  assert.match(err.join(''), /unknown command 'nonsense'/);
});

test('faults are shown with file, line, column and a caret under the place', async (t) => {
  const fault = {
    file: 'bindings/ghostlight.toml',
    line: 12,
    column: 3,
    message: 'unknown field',
    text: '\tfoo = 1',
    code: 'field-unknown',
    related: { file: 'recipe.toml', line: 7, column: 1, text: 'bar = 2' },
  };
  const refusal = {
    code: 'configuration-invalid',
    reason: '1 fault',
    remedy: 'Correct it.',
    detail: { faults: [fault] },
  };
  const { environment, err } = await stage(t, { 'POST /v1/plan': refuseWith(refusal) });
  assert.equal(await run(environment(['plan', 'ghostlight'])), 3);
  assert.match(
    err.join(''),
    /bindings\/ghostlight\.toml:12:3 unknown field \[field-unknown\]\n {2}12 \| \tfoo = 1\n {5}\| \t \^\n/,
  );
  assert.ok(
    err.join('').includes('\n  against recipe.toml:7:1\n  7 | bar = 2\n    | ^\n'),
    'and the line it is held against',
  );
  assert.match(err.join(''), /what to do: Correct it\./);
});

test('a mistyped target is refused with the one that was meant', async (t) => {
  const refusal = {
    code: 'target-unknown',
    reason: 'the fleet test has no target ghostligth',
    remedy: 'Run idunn status.',
    detail: { targets: ['ghostlight'] },
  };
  const { environment, err } = await stage(t, { 'POST /v1/commands': refuseWith(refusal) });
  assert.equal(await run(environment(['up', 'ghostligth'])), 3);
  assert.match(err.join(''), /Did you mean ghostlight\?/);
});

test('words that are wrong are refused before anything is asked, in JSON too, with where to read on', async (t) => {
  const { environment, out, err, asked } = await stage(t, {});
  const wrong = [
    ['up', 'profile:'],
    ['up', 'ghostlight', '--operation-id', '!!'],
    ['takeover', 'ghostlight', '--confirm', 'ghostlight'],
    ['takeover', 'ghostlight', '--confirm', 'act-'],
    ['takeover', 'ghostlight'],
    ['key', 'show'],
    ['key'],
    ['nonsense'],
  ];
  for (const words of wrong) {
    out.length = 0;
    assert.equal(await run(environment([...words, '--json'])), 2, words.join(' '));
    const answer = JSON.parse(out.join('')) as { schema: string; refusal: { code: string } };
    assert.deepEqual([answer.schema, answer.refusal.code], ['idunn.refusal/v1', 'words-invalid'], words.join(' '));
  }
  assert.deepEqual(err, []);
  await run(environment(['key', 'show']));
  assert.match(err.join(''), /idunn key show --help/);
  assert.equal(asked.length, 0);
});

test('the help of every command names the options that hold everywhere', async (t) => {
  const { environment, out } = await stage(t, {});
  for (const words of [['up'], ['key', 'list'], ['status']]) {
    out.length = 0;
    await run(environment([...words, '--help']));
    assert.match(out.join(''), /--fleet <directory>[\s\S]*--json/, words.join(' '));
  }
});

const FLEET_WIDE = {
  schema: 'idunn.history/v1',
  sequence: 4,
  previous: `sha256:${'a'.repeat(64)}`,
  digest: `sha256:${'b'.repeat(64)}`,
  kind: 'freeze.engaged',
  subject: '_fleet',
  actor: 'ada',
  tenant: 'local',
  atMs: 1_800_000_000_000,
  at: '2027-01-15T08:00:00.000Z',
  body: { reason: 'release day' },
};

test('an empty history is that of something known; what is not known is refused', async (t) => {
  const history = { schema: 'idunn.history-view/v1', fleet: 'test', entries: [] };
  const stopped = { ...history, entries: [FLEET_WIDE] };
  const inspected = { schema: 'idunn.inspect/v1', kind: 'target', id: 'almanac', value: {} };
  const { environment, err } = await stage(t, {
    'GET /v1/history?subject=almanac': history,
    'GET /v1/inspect/almanac': inspected,
    'GET /v1/history?subject=nonsense': history,
    'GET /v1/history?subject=almanak': stopped,
    'GET /v1/history?subject=_fleet': stopped,
  });
  assert.equal(await run(environment(['history', 'almanac'])), 0);
  assert.equal(await run(environment(['history', 'nonsense'])), 3);
  assert.match(err.join(''), /^subject-unknown/);
  assert.equal(await run(environment(['history', 'almanak'])), 3, 'what stopped the whole fleet is told of anything');
  assert.equal(await run(environment(['history', '_fleet'])), 0);
});

test('no daemon is a failure with the command that helps, in JSON too', async (t) => {
  const { environment, out, fleet } = await stage(t, {});
  const elsewhere = environment(['status', '--json']);
  const { writeFile } = await import('node:fs/promises');
  await writeFile(`${fleet}/fleet.toml`, 'id = "test"\n[directories]\nruntime = "nowhere"\n');
  assert.equal(await run(elsewhere), 1);
  const answer = JSON.parse(out.join('')) as { schema: string; refusal: { code: string; remedy: string } };
  assert.equal(answer.schema, 'idunn.refusal/v1');
  assert.equal(answer.refusal.code, 'daemon-unreachable');
});

test('key rotation is refused by name', async (t) => {
  const { environment, err } = await stage(t, {});
  assert.equal(await run(environment(['key', 'rotate', 'ghostlight'])), 3);
  assert.match(err.join(''), /^key-rotation-unavailable/);
});

test('doctor names a fault in the fleet’s files', async (t) => {
  const fault = { file: '/fleet/fleet.toml', line: 3, column: 1, message: 'unknown field colour', text: 'colour = 1' };
  const { environment, out } = await stage(t, {
    'GET /v1/doctor': { schema: 'idunn.doctor/v1', checks: [] },
    'GET /v1/fleet': {
      schema: 'idunn.fleet-view/v1',
      fleet: 'test',
      machine: 'local',
      directory: '/fleet',
      targets: [],
      profiles: {},
      faults: [fault],
    },
  });
  assert.equal(await run(environment(['doctor'])), 1);
  assert.match(out.join(''), /bad +fleet files +1 fault, the first at \/fleet\/fleet\.toml:3:1: unknown field colour/);
});

test('doctor looks without a daemon, and names each thing that it looked at', async (t) => {
  const { environment, out } = await stage(t, {});
  assert.equal(await run(environment(['doctor'])), 0);
  for (const check of [
    'node',
    'git',
    'control groups',
    'user separation',
    'socket paths',
    'runtime directory',
    'disk of state',
    'key files',
    'daemon',
  ]) {
    assert.ok(out.join('').includes(check), check);
  }
});
