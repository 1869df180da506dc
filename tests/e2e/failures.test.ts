import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Fleet, makeFleet, refusalOf } from './lib/fleet.ts';
import { json, type VersionAnswer } from './lib/world.ts';

const MAIN = 'src/main.js';
const TELLS_ITS_SECRET = `
const file = process.env.IDUNN_ACTIVATION_DIRECTORY + '/secrets/api-key';
console.log('my key is', readFileSync(file, 'utf8'));
`;

/**
 * Deploys what the repository holds now, expects it to fail, puts the file back, and sees the incumbent serve as
 * before.
 */
async function fails(
  fleet: Fleet,
  before: VersionAnswer,
): Promise<{ code: number; refusal: ReturnType<typeof refusalOf> }> {
  const { code, outcome } = await fleet.up('ghostlight');
  const refusal = refusalOf(outcome);
  assert.ok(code === 3 || code === 5, `${outcome.outcome}: ${JSON.stringify(refusal)}`);
  assert.notEqual(refusal.remedy, '');
  const after = await json<VersionAnswer>(fleet.url, '/version');
  assert.deepEqual(after, before, 'I7: the incumbent was not touched');
  return { code, refusal };
}

test('what is wrong is refused with its reason, and the incumbent serves throughout', async (t) => {
  const fleet = await makeFleet(t);
  await fleet.bind((text) => `${text}\n[deadlines]\nstart_ms = 5000\nwarming_ms = 5000\nready_ms = 5000\n`);
  await fleet.daemon();
  const first = await fleet.up('ghostlight');
  assert.equal(first.code, 0, JSON.stringify(first.outcome));
  const incumbent = await json<VersionAnswer>(fleet.url, '/version');
  const good = await fleet.client.plan('ghostlight', null);
  assert.ok(good.ok);
  const base = good.value.source.commit;

  await t.test('F7: a build that fails shows the last lines of its output', async () => {
    await fleet.edit('build.mjs', (text) => `console.error('the loom is broken');\nprocess.exit(3);\n${text}`);
    const { refusal } = await fails(fleet, incumbent);
    assert.match(JSON.stringify(refusal), /the loom is broken/);
    const human = await fleet.idunn('up', 'ghostlight');
    assert.match(human.out, /the loom is broken/);
    assert.match(human.out, /what to do:/);
    await fleet.edit('build.mjs', (text) => text.replace(/^console\.error.*\nprocess\.exit\(3\);\n/, ''));
  });

  await t.test('F7: a candidate that dies at start is refused with the last lines of its log', async () => {
    await fleet.edit(MAIN, (text) => `console.error('no light tonight');\nprocess.exit(7);\n${text}`);
    const { code, refusal } = await fails(fleet, incumbent);
    assert.equal(code, 5);
    assert.equal(refusal.code, 'candidate-exited');
    assert.match(JSON.stringify(refusal.detail), /no light tonight/);
    assert.match(JSON.stringify(refusal.detail), /"exit":\{"code":7,"signal":null\}/);
    await fleet.edit(MAIN, (text) => text.replace(/^console\.error.*\nprocess\.exit\(7\);\n/, ''));
  });

  await t.test('a candidate that never says warming is stopped at its deadline', async () => {
    await fleet.edit(MAIN, (text) => text.replace('idunn.warm();', ''));
    const { refusal } = await fails(fleet, incumbent);
    assert.equal(refusal.code, 'candidate-never-warming');
    await fleet.edit(MAIN, (text) => text.replace('console.log(`ghost', 'idunn.warm();\nconsole.log(`ghost'));
  });

  await t.test('faults in recipe and binding are all shown at once, with file, line, column and line', async () => {
    await fleet.edit('deployment/idunn/recipe.toml', (text) =>
      text.replace('kind = "idunn"', 'kind = "idunn"\nwrong = 1'),
    );
    const recipe = await fails(fleet, incumbent);
    assert.equal(recipe.code, 3);
    const faults = (recipe.refusal.detail as { faults: { line: number; column: number; text: string }[] }).faults;
    assert.ok(
      faults.some(({ text }) => text === 'wrong = 1'),
      JSON.stringify(faults),
    );
    await fleet.edit('deployment/idunn/recipe.toml', (text) => text.replace('\nwrong = 1', ''));

    await fleet.bind((text) => text.replace('drain_ms = 1000', 'drain_ms = 10000\nmystery = true'));
    const human = await fleet.idunn('up', 'ghostlight');
    assert.equal(human.code, 3, human.out + human.err);
    assert.match(human.out + human.err, /ghostlight\.toml:\d+:\d+ .*\n +\d+ \| mystery = true\n +\| +\^/);
    await fleet.bind((text) => text.replace('\nmystery = true', ''));
  });

  await t.test('F5: a health path that redirects for ever is named with its status', async () => {
    await fleet.edit('src/api.js', (text) =>
      text.replace(
        "'GET /healthz': (_request, response) => answer(response, 200, { ok: true }),",
        "'GET /healthz': (_request, response) => response.writeHead(301, { Location: '/' }).end('moved'),",
      ),
    );
    await fleet.bind((text) => text.replace('ready_ms = 5000', 'ready_ms = 5000\nroute_ms = 1500'));
    const { code, outcome } = await fleet.up('ghostlight');
    const refusal = refusalOf(outcome);
    assert.ok(code === 5 || code === 6, outcome.outcome);
    const { probe } = refusal.detail as { probe: { status: number; body: string } };
    assert.deepEqual([probe.status, probe.body], [301, 'moved']);
    // It was seen behind the route, so the incumbent was fenced and has returned: still there, and it still writes.
    assert.equal((await json<VersionAnswer>(fleet.url, '/version')).revision, incumbent.revision);
    await json(fleet.url, '/events', { id: 'after-return', text: 'still here' });
    await fleet.bind((text) => text.replace('\nroute_ms = 1500', ''));
    await fleet.edit('src/api.js', (text) =>
      text.replace(
        /'GET \/healthz': .*/,
        "'GET /healthz': (_request, response) => answer(response, 200, { ok: true }),",
      ),
    );
  });

  await t.test(
    'F6: help acts on nothing, and a target that is not there is refused with the one that was meant',
    async () => {
      const before = await fleet.client.history({ limit: 1 });
      assert.equal((await fleet.idunn('up', '--help')).code, 0);
      assert.equal((await fleet.idunn('up', 'ghostlight', '--help')).code, 0);
      const mistyped = await fleet.idunn('up', 'ghostligth');
      assert.equal(mistyped.code, 3);
      assert.match(mistyped.err, /Did you mean ghostlight\?/);
      const after = await fleet.client.history({ limit: 1 });
      assert.deepEqual(after, before, 'nothing was recorded');
    },
  );

  await t.test('F30: a value bound as a secret appears in no log, status, plan, event or history', async () => {
    const value = `s3cret-${'x'.repeat(12)}-value`;
    await writeFile(join(fleet.work, 'api-key'), `${value}\n`, { mode: 0o600 });
    await fleet.bind((text) => `${text}\n[secret.api-key]\nfile = "${join(fleet.work, 'api-key')}"\n`);
    await fleet.edit('deployment/idunn/recipe.toml', (text) =>
      text.replace('routed = true', 'routed = true\nsecrets = ["api-key"]'),
    );
    await fleet.edit(MAIN, (text) => `${text}\n${TELLS_ITS_SECRET}`);
    const up = await fleet.idunn('up', 'ghostlight', '--json');
    assert.equal(up.code, 0, up.out);
    const told = [
      up,
      await fleet.idunn('logs', 'ghostlight'),
      await fleet.idunn('status', '--json'),
      await fleet.idunn('plan', 'ghostlight', '--json'),
      await fleet.idunn('history', '--json', '-n', '1000'),
      await fleet.idunn('inspect', 'ghostlight', '--json'),
    ].map(({ out, err }) => out + err);
    assert.match(told[1] ?? '', /my key is \[secret api-key\]/);
    for (const text of told) assert.ok(!text.includes(value), text.slice(0, 400));
  });

  assert.notEqual(base, '');
});
