import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { copyFile, mkdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { doctor, plan } from '@idunn/client/schemas';
import { makeFleet } from './lib/fleet.ts';
import { json, type VersionAnswer } from './lib/world.ts';

test('built in a sandbox, run by a sealed interpreter: from the command line to the running process', async (t) => {
  const fleet = await makeFleet(t);
  const node = process.execPath;
  const digest = createHash('sha256')
    .update(await readFile(node))
    .digest('hex');
  // As if it had been fetched: inputs are kept by their digest.
  await mkdir(join(fleet.work, 'cache/inputs'), { recursive: true });
  await copyFile(node, join(fleet.work, 'cache/inputs', digest));
  await fleet.edit(
    'deployment/idunn/recipe.toml',
    (text) =>
      `${text}\n[[external_input]]\nid = "node-26"\nurl = "https://downloads.example.org/node"\nsha256 = "${digest}"\n`,
  );
  await fleet.bind((text) =>
    text
      .replace('kind = "host-native"', 'kind = "bubblewrap"')
      .replace(/\[interpreter.node\]\npath = .*/, '[interpreter.node]\norigin = "input"\ninput = "node-26"'),
  );
  await fleet.daemon();

  await t.test('the plan says so', async () => {
    const printed = plan.parse(JSON.parse((await fleet.idunn('plan', 'ghostlight', '--json')).out));
    assert.equal(printed.runners['build']?.kind, 'bubblewrap');
    assert.ok(printed.launch.program.kind === 'interpreter' && printed.launch.program.origin === 'input');
    assert.equal(printed.launch.program.digest, `sha256:${digest}`);
    assert.match((await fleet.idunn('plan', 'ghostlight')).out, /the sealed interpreter runs/);
  });

  await t.test('it is admitted and serves, and its executable is the sealed one', async () => {
    const { outcome } = await fleet.up('ghostlight');
    assert.equal(outcome.outcome, 'admitted', JSON.stringify(outcome));
    const { pid } = await json<VersionAnswer>(fleet.url, '/version');
    const sealed = new RegExp(`^${join(fleet.work, 'releases')}/[0-9a-f]{64}/interpreter$`);
    assert.match(await readlink(`/proc/${pid}/exe`), sealed);
    const verified = await fleet.idunn('verify', 'ghostlight');
    assert.equal(verified.code, 0, verified.out + verified.err);
  });

  await t.test('doctor has really started a sandbox', async () => {
    const { checks } = doctor.parse(JSON.parse((await fleet.idunn('doctor', '--json')).out));
    const sandbox = checks.find(({ check }) => check === 'sandbox');
    assert.equal(sandbox?.verdict, 'good', JSON.stringify(sandbox));
    assert.match(sandbox?.detail ?? '', /limits that can be held: .*processes/);
  });

  await t.test(
    'F7: a step that reaches for the authority fails with its last lines; the incumbent serves',
    async () => {
      const { incarnation } = await json<VersionAnswer>(fleet.url, '/version');
      const key = join(fleet.work, 'state/keys');
      await fleet.edit(
        'build.mjs',
        (text) => `import { readdirSync } from 'node:fs';\nreaddirSync('${key}');\n${text}`,
      );
      const { code, outcome } = await fleet.up('ghostlight');
      assert.notEqual(code, 0);
      assert.equal(outcome.refusal?.code, 'step-failed');
      assert.match(JSON.stringify(outcome.refusal?.detail), /ENOENT: no such file or directory, scandir/);
      assert.equal((await json<VersionAnswer>(fleet.url, '/version')).incarnation, incarnation);
    },
  );
});
