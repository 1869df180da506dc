import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { cp, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Fleet, makeFleet } from './lib/fleet.ts';
import { until } from './lib/until.ts';
import { ask, journal, json, type VersionAnswer } from './lib/world.ts';

const incidentsOf = async (fleet: Fleet, ...words: readonly string[]) => {
  const { incidents } = JSON.parse((await fleet.idunn('incidents', 'ghostlight', ...words, '--json')).out) as {
    incidents: { code: string; detail: string; remedy: string; closedAt: string | null }[];
  };
  return incidents;
};

/** What came of a transaction once it is over: a stuck one has an outcome and goes on. */
const outcomeOf = (fleet: Fleet, id: string): Promise<string | undefined> =>
  until(
    async () => {
      const view = await fleet.client.transaction(id);
      assert.ok(view.ok);
      return view.value.result?.outcome;
    },
    (outcome) => outcome !== 'operator-required',
  );

/** A build that takes its whole state away once it may write, and ends. */
const vandal = (root: string): string => `
idunn.onGrant(() => {
  renameSync(${JSON.stringify(root)}, ${JSON.stringify(`${root}.taken`)});
  process.exit(1);
});
`;

test('a build that takes its state away is held past its fence, says what to put back, and returns then', async (t) => {
  const fleet = await makeFleet(t);
  await fleet.bind((text) => `${text}\n[deadlines]\nhandover_ms = 2000\nready_ms = 3000\n`);
  await fleet.daemon();
  assert.equal((await fleet.up('ghostlight')).code, 0);
  await ask(fleet.url, '/events', { id: 'e-1', text: 'kept' });
  const before = await json<VersionAnswer>(fleet.url, '/version');
  const written = await journal(fleet.url);

  const root = join(fleet.work, 'world');
  await fleet.edit('src/main.js', (text) =>
    `import { renameSync } from 'node:fs';\n${text}`.replace(/^idunn\.onGrant\(.*$/m, vandal(root)),
  );
  const { code, outcome } = await fleet.up('ghostlight', '--timeout', '60', '--operation-id', 'vandal');
  assert.deepEqual([code, outcome.outcome], [1, 'operator-required'], JSON.stringify(outcome));
  assert.ok(!existsSync(root), 'it was taken away');
  assert.match(outcome.refusal?.reason ?? '', new RegExp(`^${root}: `));

  const open = await incidentsOf(fleet);
  const lost = open.find((one) => one.code === 'lease-row-unreadable');
  assert.match(lost?.detail ?? '', new RegExp(`waits on the lease row in ${root}: `));
  assert.match(lost?.remedy ?? '', /^Put what is missing or damaged back into the state root/);

  await rename(`${root}.taken`, root);
  assert.equal(await outcomeOf(fleet, outcome.transaction ?? ''), 'rolled-back');
  assert.equal((await json<VersionAnswer>(fleet.url, '/version')).incarnation, before.incarnation);
  assert.deepEqual(await journal(fleet.url), written);
  await ask(fleet.url, '/events', { id: 'e-2', text: 'and it writes on' });
  await until(
    () => incidentsOf(fleet),
    (open) => open.length === 0,
  );
  const closed = await incidentsOf(fleet, '--all');
  assert.ok(closed.some((one) => one.code === 'lease-row-unreadable' && one.closedAt !== null));

  await t.test('from a copy it returns once the process that still holds what was taken has ended', async () => {
    await cp(root, `${root}.copy`, { recursive: true, preserveTimestamps: true });
    const again = await fleet.up('ghostlight', '--timeout', '60', '--operation-id', 'again');
    assert.equal(again.outcome.outcome, 'operator-required', JSON.stringify(again.outcome));
    await rename(`${root}.copy`, root);
    const { pid } = await json<VersionAnswer>(fleet.url, '/version');
    process.kill(pid, 'SIGKILL');
    assert.equal(await outcomeOf(fleet, again.outcome.transaction ?? ''), 'rolled-back');
    assert.deepEqual(
      (await journal(fleet.url)).map(({ id }) => id),
      ['e-1', 'e-2'],
    );
    await ask(fleet.url, '/events', { id: 'e-3', text: 'from the copy' });
  });
});
