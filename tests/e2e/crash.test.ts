import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Fleet, makeFleet } from './lib/fleet.ts';
import { json, type VersionAnswer, writers } from './lib/world.ts';

/**
 * Submits a deployment and kills the daemon as soon as its transaction is seen in the phase; answers its transaction.
 */
async function killIn(fleet: Fleet, pid: number, phase: string, operation: string): Promise<string> {
  const receipt = await fleet.client.command({ kind: 'up', operationId: operation, target: 'ghostlight', ref: null });
  assert.ok(receipt.ok, receipt.ok ? '' : receipt.refusal.reason);
  const { transaction } = receipt.value;
  const stop = new AbortController();
  let seen = false;
  for await (const followed of fleet.client.events({ transaction, signal: stop.signal })) {
    const phases =
      followed.kind === 'snapshot'
        ? followed.transaction.phases.map((one) => one.phase)
        : followed.kind === 'event' && followed.event.event === 'phase'
          ? [followed.event.phase]
          : [];
    if (phases.includes(phase)) {
      process.kill(pid, 'SIGKILL');
      seen = true;
      stop.abort();
    } else if (followed.kind === 'event' && followed.event.event === 'outcome') stop.abort();
  }
  assert.ok(seen, `${phase} was seen`);
  return transaction;
}

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
      const transaction = await killIn(fleet, pid, phase, operation);
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
