import assert from 'node:assert/strict';
import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Fleet, makeFleet } from './lib/fleet.ts';

async function fleetIncidents(fleet: Fleet) {
  const answer = await fleet.client.status();
  assert.ok(answer.ok);
  return answer.value.incidents;
}

/** Looks until the fleet's incidents are these. */
async function opens(fleet: Fleet, ...codes: readonly string[]): Promise<void> {
  let open = await fleetIncidents(fleet);
  while (open.map(({ code }) => code).join() !== codes.join()) open = await fleetIncidents(fleet);
}

async function pids(fleet: Fleet) {
  const answer = await fleet.client.version();
  assert.ok(answer.ok);
  return answer.value.helpers;
}

/** What was told, in the order in which the command was run. */
async function told(fleet: Fleet): Promise<{ state: string; code: string; target: string; incident: string }[]> {
  const text = await readFile(join(fleet.work, 'told'), 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

async function untilTold(fleet: Fleet, ...words: readonly string[]): Promise<void> {
  const said = async () => (await told(fleet)).map(({ state, code }) => `${state} ${code}`).join();
  while ((await said()) !== words.join()) await fleet.client.version();
}

/** A helper that does not come back is waited for no longer. */
const LIMIT = { timeout: 180_000 };

test('the loss of observer and of router is an incident of the fleet, also for the next daemon', LIMIT, async (t) => {
  const fleet = await makeFleet(t);
  const write = `process.stdin.on('data', (text) => require('node:fs').appendFileSync(process.argv[1], text + '\\n'))`;
  const command = [process.execPath, '-e', write, join(fleet.work, 'told')];
  const codes = ['observer-unreachable', 'router-unreachable'];
  await appendFile(
    join(fleet.directory, 'fleet.toml'),
    `\n[[notify]]\nid = "page"\ncommand = ${JSON.stringify(command)}\ncodes = ${JSON.stringify(codes)}\n`,
  );
  let daemon = await fleet.daemon();
  const upgraded = await fleet.up('observer');
  assert.equal(upgraded.code, 0, JSON.stringify(upgraded.outcome));
  assert.deepEqual([await fleetIncidents(fleet), await told(fleet)], [[], []], 'what is begun is no loss');
  const helpers = await pids(fleet);
  assert.ok(helpers.observerPid !== null && helpers.routerPid !== null);

  await t.test('an observer that a hold keeps away', async () => {
    assert.equal((await fleet.idunn('hold', 'engage', 'observer', '--reason', 'it is kept away')).code, 0);
    process.kill(helpers.observerPid ?? 0, 'SIGKILL');
    await opens(fleet, 'observer-unreachable');
    const [lost] = await fleetIncidents(fleet);
    assert.ok(lost);
    assert.deepEqual([lost.subject, lost.code], ['_fleet', 'observer-unreachable']);
    const { out } = await fleet.idunn('status');
    assert.match(out, /observer-unreachable {2}connect (ECONNREFUSED|ENOENT) .*what to do: Run idunn status/);
    await untilTold(fleet, 'opened observer-unreachable');

    process.kill(daemon, 'SIGKILL');
    daemon = await fleet.daemon();
    await opens(fleet, 'observer-unreachable');
    assert.equal((await fleetIncidents(fleet))[0]?.since, lost.since, 'it is the same one');
    assert.equal((await fleet.up('observer')).code, 0);
    await opens(fleet);
    await untilTold(fleet, 'opened observer-unreachable', 'closed observer-unreachable');
  });

  await t.test('a router that hangs', async () => {
    const router = helpers.routerPid ?? 0;
    process.kill(router, 'SIGSTOP');
    await opens(fleet, 'router-unreachable').finally(() => process.kill(router, 'SIGCONT'));
    process.kill(daemon, 'SIGKILL');
    daemon = await fleet.daemon();
    await opens(fleet);
    const all = ['opened observer-unreachable', 'closed observer-unreachable'];
    await untilTold(fleet, ...all, 'opened router-unreachable', 'closed router-unreachable');
    assert.equal((await pids(fleet)).routerPid, router, 'it was never another');
  });

  const subjects = new Set((await told(fleet)).map(({ target }) => target));
  assert.deepEqual([...subjects], ['_fleet']);
  const history = await fleet.client.history({ subject: '_fleet' });
  assert.ok(history.ok);
  assert.deepEqual(
    history.value.entries.map(({ kind }) => kind),
    ['incident.closed', 'incident.opened', 'incident.closed', 'incident.opened'],
  );
});
