import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeFleet } from './lib/fleet.ts';
import { killIn } from './lib/kill-in.ts';
import { json, type VersionAnswer, writers } from './lib/world.ts';

test('F17: a daemon that is killed in any phase finishes the very transaction when it is started again', async (t) => {
  const fleet = await makeFleet(t);
  // A request may wait as long as a daemon takes to start again on a busy machine.
  await fleet.bind((text) => text.replace('[route]\n', '[route]\nhold_ms = 20000\n'));
  let pid = await fleet.daemon();
  assert.equal((await fleet.up('ghostlight')).code, 0);
  const load = writers(fleet.url, 2);
  const phases = ['materialized', 'sealed', 'candidate-started', 'warming', 'write-lease-granted', 'fence-cleared'];
  for (const [index, phase] of phases.entries()) {
    await t.test(phase, async () => {
      const revision = await fleet.edit('package.json', (text) => text.replace(/"1\.\d+\.0"/, `"1.${index + 1}.0"`));
      const operation = `kill-in-${phase}`;
      const transaction = await killIn(fleet, { pid, target: 'ghostlight', phase, operation });
      pid = await fleet.daemon();
      const { code, outcome } = await fleet.up('ghostlight', '--operation-id', operation);
      assert.equal(code, 0, JSON.stringify(outcome));
      assert.equal(outcome.transaction, transaction);
      assert.equal(outcome.outcome, 'admitted');
      const version = await json<VersionAnswer>(fleet.url, '/version');
      assert.equal(version.revision, revision);
    });
  }
  const { failed } = await load.stop();
  assert.deepEqual(failed.slice(0, 5), [], 'F17, I7: no request failed through any of it');

  await t.test('a clean stop leaves router, observer and workload running', async () => {
    const before = await json<VersionAnswer>(fleet.url, '/version');
    process.kill(pid, 'SIGTERM');
    const stop = new AbortController();
    for await (const followed of fleet.client.events({ signal: stop.signal, target: 'nobody' })) {
      if (followed.kind === 'lost') stop.abort();
    }
    assert.deepEqual(await json<VersionAnswer>(fleet.url, '/version'), before);
    const next = await fleet.daemon();
    assert.notEqual(next, pid);
    const { outcome } = await fleet.up('ghostlight');
    assert.equal(outcome.outcome, 'unchanged');
    assert.deepEqual(await json<VersionAnswer>(fleet.url, '/version'), before);
  });
});
