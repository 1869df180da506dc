import assert from 'node:assert/strict';
import { appendFile, copyFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Fleet, makeFleet } from './lib/fleet.ts';
import { until } from './lib/until.ts';
import { ask, journal, json, type VersionAnswer } from './lib/world.ts';

const version = (fleet: Fleet): Promise<VersionAnswer> => json<VersionAnswer>(fleet.url, '/version');

async function statusOf(fleet: Fleet, target: string) {
  const answer = await fleet.client.status();
  assert.ok(answer.ok);
  const found = answer.value.targets.find((one) => one.target === target);
  assert.ok(found);
  return found;
}

async function helpersOf(fleet: Fleet): Promise<{ routerPid: number; observerPid: number }> {
  const answer = await fleet.client.version();
  assert.ok(answer.ok);
  const { routerPid, observerPid } = answer.value.helpers;
  assert.ok(routerPid !== null && observerPid !== null);
  return { routerPid, observerPid };
}

/** Begins a deployment of what the repository holds now. */
async function begin(fleet: Fleet, operationId: string): Promise<string> {
  const receipt = await fleet.client.command({ kind: 'up', operationId, target: 'ghostlight', ref: null });
  assert.ok(receipt.ok, receipt.ok ? '' : receipt.refusal.reason);
  return receipt.value.transaction;
}

/** Follows a transaction: `met` is called as each phase is entered; answers its outcome. */
async function follow(fleet: Fleet, transaction: string, met: (phase: string) => Promise<void> | void = () => {}) {
  const stop = new AbortController();
  let outcome: string | null = null;
  for await (const followed of fleet.client.events({ transaction, signal: stop.signal })) {
    if (followed.kind === 'snapshot') {
      for (const { phase } of followed.transaction.phases) await met(phase);
      outcome = followed.transaction.result?.outcome ?? null;
    } else if (followed.kind === 'event' && followed.event.event === 'phase') {
      if (followed.event.tookMs === null) await met(followed.event.phase);
    } else if (followed.kind === 'event' && followed.event.event === 'outcome') outcome = followed.event.outcome;
    if (outcome !== null) stop.abort();
  }
  return outcome;
}

/** Kept away: continuity would bring it back at once. */
async function takeObserverAway(fleet: Fleet, { observerPid }: { observerPid: number }): Promise<void> {
  process.kill(observerPid, 'SIGKILL');
  await until(
    () => statusOf(fleet, 'observer'),
    ({ incidents }) => incidents.some(({ code }) => code === 'continuity-held'),
  );
}

/** It takes its time from the grant to its first `active`. */
const SLOW = `idunn.onGrant(async () => {
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  return journal.create();
});`;

test('the observer kept away: what runs goes on, and nothing begins that changes the graph', async (t) => {
  const fleet = await makeFleet(t);
  const node = join(fleet.work, 'node');
  await copyFile(process.execPath, node);
  await fleet.bind((text) =>
    `${text}\n[deadlines]\nready_ms = 6000\n`.replace(
      /(\[interpreter\.node\]\n(?:.*\n)*?path = )"[^"]*"/,
      `$1"${node}"`,
    ),
  );
  await fleet.daemon();
  assert.equal((await fleet.up('ghostlight')).code, 0);
  await ask(fleet.url, '/events', { id: 'e-1', text: 'before' });
  assert.equal((await fleet.idunn('hold', 'engage', 'observer', '--reason', 'it is kept away')).code, 0);
  let pending = '';

  await t.test(
    'I9: its route stays, a killed workload is brought back, and a deployment waits, saying why',
    async () => {
      const before = await version(fleet);
      const written = await journal(fleet.url);
      await takeObserverAway(fleet, await helpersOf(fleet));
      assert.deepEqual(await version(fleet), before, 'the route stays');
      await ask(fleet.url, '/events', { id: 'e-2', text: 'meanwhile' });

      await copyFile(node, `${node}.new`);
      await appendFile(`${node}.new`, 'a later version');
      await rename(`${node}.new`, node);
      await fleet.edit('package.json', (text) => text.replace(/"1\.\d+\.0"/, '"1.5.0"'));
      const going = await fleet.idunn('up', 'ghostlight', '--timeout', '8', '--operation-id', 'pending');
      assert.equal(going.code, 4, going.out + going.err);
      const waiting = await statusOf(fleet, 'ghostlight');
      assert.match(waiting.transaction?.waitingOn?.what ?? '', /^the observer: /);
      const candidate = waiting.incarnations.find(({ role }) => role === 'candidate');
      assert.deepEqual(
        [candidate?.activation ?? null, candidate?.present ?? null],
        [null, null],
        'nothing is launched',
      );
      pending = waiting.transaction?.id ?? '';
      const second = await fleet.idunn('up', 'ghostlight', '--timeout', '2', '--operation-id', 'second');
      assert.equal(second.code, 4, second.out + second.err);
      const queued = (await statusOf(fleet, 'ghostlight')).queued.map(({ transaction }) => transaction);
      assert.equal(queued.length, 1);
      assert.equal((await fleet.idunn('cancel', queued[0] ?? '')).code, 5);

      process.kill(before.pid, 'SIGKILL');
      const after = await until(
        () => version(fleet).catch(() => null),
        (answer) => answer !== null && answer.pid !== before.pid,
      );
      assert.equal(after?.incarnation, before.incarnation);
      assert.deepEqual((await journal(fleet.url)).slice(0, written.length), written);
      const { transaction, incidents } = await statusOf(fleet, 'ghostlight');
      assert.equal(transaction?.id, pending, 'the deployment waits on');
      assert.ok(incidents.every(({ code }) => code !== 'admitted-process-lost'));
    },
  );

  await t.test('I4: its own target is apart; back, it shows what disagrees before the deployment goes on', async () => {
    assert.notEqual(pending, '');
    let shown: readonly string[] | null = null;
    const following = follow(fleet, pending, async (phase) => {
      if (phase !== 'expected-published') return;
      const { incarnations } = await statusOf(fleet, 'ghostlight');
      const admitted = incarnations.find(({ role }) => role === 'admitted');
      shown = admitted?.disagreements.map(({ code }) => code) ?? [];
    });
    // It does not speak to the observer yet.
    const { pid } = await version(fleet);
    process.kill(pid, 'SIGSTOP');
    const back = await fleet.up('observer');
    const awaits = 'the observer, which is to judge ghostlight@';
    const { transaction } = await until(
      () => statusOf(fleet, 'ghostlight'),
      (seen) => seen.transaction?.phase !== 'sealed' || seen.transaction.waitingOn?.what.startsWith(awaits) === true,
    );
    process.kill(pid, 'SIGCONT');
    assert.deepEqual([back.code, transaction?.phase], [0, 'sealed'], JSON.stringify(back.outcome));
    assert.equal(await following, 'admitted');
    assert.deepEqual(shown, ['executable-mismatch']);
    const { incarnations } = await statusOf(fleet, 'ghostlight');
    assert.deepEqual(incarnations.find(({ role }) => role === 'admitted')?.disagreements, []);
  });

  await t.test('I4: past its fence a deployment without a Ready receipt returns', async () => {
    await fleet.edit('src/main.js', (text) => text.replace(/^idunn\.onGrant\(.*$/m, SLOW));
    const before = await version(fleet);
    const helpers = await helpersOf(fleet);
    const outcome = await follow(fleet, await begin(fleet, 'without'), async (phase) => {
      if (phase === 'write-lease-granted') await takeObserverAway(fleet, helpers);
    });
    assert.equal(outcome, 'rolled-back');
    const { incarnation, revision } = await version(fleet);
    assert.deepEqual([incarnation, revision], [before.incarnation, before.revision]);
    assert.ok((await ask(fleet.url, '/events', { id: 'e-3', text: 'after the return' })).status < 300);
    assert.equal((await fleet.up('observer')).code, 0);
  });

  await t.test('I4: with the receipt that it was given before it is admitted', async () => {
    const helpers = await helpersOf(fleet);
    const before = await version(fleet);
    const outcome = await follow(fleet, await begin(fleet, 'with'), async (phase) => {
      // The proxy stands still, so that the receipt is there and the route is not yet published.
      if (phase === 'write-lease-granted') process.kill(helpers.routerPid, 'SIGSTOP');
      if (phase !== 'route-published') return;
      await takeObserverAway(fleet, helpers).finally(() => process.kill(helpers.routerPid, 'SIGCONT'));
    });
    assert.equal(outcome, 'admitted');
    assert.notEqual((await version(fleet)).revision, before.revision);
    assert.deepEqual(
      (await journal(fleet.url)).map(({ id }) => id),
      ['e-1', 'e-2', 'e-3'],
    );
  });
});
