import assert from 'node:assert/strict';
import { access, chown, mkdir } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Fleet, makeFleet } from './lib/fleet.ts';
import { until } from './lib/until.ts';
import { ask, journal, json, type VersionAnswer } from './lib/world.ts';

const version = (fleet: Fleet): Promise<VersionAnswer> => json<VersionAnswer>(fleet.url, '/version');
const status = async (fleet: Fleet) => {
  const answer = await fleet.client.status();
  assert.ok(answer.ok);
  const target = answer.value.targets.find((one) => one.target === 'ghostlight');
  assert.ok(target);
  return target;
};

/** Follows the fleet's events until one is what was waited for. */
async function seen(fleet: Fleet, what: (event: { event: string; [name: string]: unknown }) => boolean): Promise<void> {
  const stop = new AbortController();
  for await (const followed of fleet.client.events({ target: 'ghostlight', signal: stop.signal })) {
    if (followed.kind === 'event' && what({ ...followed.event })) stop.abort();
  }
}

/** What became of stops, as the history tells it, oldest first, once so many entries stand. */
const stopsTold = (fleet: Fleet, count: number): Promise<readonly unknown[]> =>
  until(
    async () => {
      const { entries } = JSON.parse((await fleet.idunn('history', 'ghostlight', '-n', '500', '--json')).out) as {
        entries: { kind: string; actor: string; body: { reason?: string; unseen?: number } }[];
      };
      const told = entries.filter(({ kind }) => /^(freeze|hold)\./.test(kind)).toReversed();
      return told.map(({ kind, actor, body }) => [kind, actor, body.reason, body.unseen]);
    },
    (told) => told.length >= count,
  );

const restored = (fleet: Fleet): Promise<void> =>
  seen(fleet, (event) => event.event === 'outcome' && event['outcome'] === 'restored');

/** Kills the workload and waits until continuity has told that it is back. */
async function killAndAwait(fleet: Fleet): Promise<{ before: VersionAnswer; after: VersionAnswer }> {
  const before = await version(fleet);
  const back = restored(fleet);
  process.kill(before.pid, 'SIGKILL');
  await back;
  return { before, after: await version(fleet) };
}

test('what is admitted is brought back, freezes hold deployments, holds suspend restarts', async (t) => {
  const fleet = await makeFleet(t);
  await fleet.daemon();
  assert.equal((await fleet.up('ghostlight')).code, 0);
  for (let n = 0; n < 20; n += 1) await ask(fleet.url, '/events', { id: `e-${n}`, text: `event ${n}` });

  await t.test('I8, I9: killed under a freeze it is replaced, with the same journal to the last byte', async () => {
    const engaged = await fleet.idunn('freeze', 'engage', 'ghostlight', '--reason', 'release day');
    assert.equal(engaged.code, 0, engaged.err);
    const written = await journal(fleet.url);
    const { before, after } = await killAndAwait(fleet);
    assert.notEqual(after.pid, before.pid);
    assert.deepEqual([after.incarnation, after.revision], [before.incarnation, before.revision]);
    assert.deepEqual(await journal(fleet.url), written);
    assert.equal((await status(fleet)).lease?.epoch, 2);
  });

  await t.test(
    'I8: a frozen deployment waits with who, why and the command that thaws it, and then goes on',
    async () => {
      const revision = await fleet.edit('package.json', (text) => text.replace(/"1\.\d+\.0"/, '"1.7.0"'));
      const going = await fleet.idunn('up', 'ghostlight', '--timeout', '20', '--operation-id', 'frozen');
      assert.equal(going.code, 4, going.out + going.err);
      const { transaction, freezes } = await status(fleet);
      assert.match(transaction?.waitingOn?.what ?? '', /the freeze of .*: release day \(since /);
      assert.equal(transaction?.waitingOn?.remedy, 'idunn freeze clear ghostlight');
      assert.equal(freezes[0]?.reason, 'release day');
      assert.equal((await fleet.idunn('freeze', 'clear', 'ghostlight')).code, 0);
      const { code } = await fleet.up('ghostlight', '--operation-id', 'frozen');
      assert.equal(code, 0);
      assert.equal((await version(fleet)).revision, revision);
    },
  );

  await t.test('I8: a hold suspends the restart, says so, and its clearing lets it go on', async () => {
    assert.equal((await fleet.idunn('hold', 'engage', 'ghostlight', '--reason', 'forensics')).code, 0);
    const before = await version(fleet);
    process.kill(before.pid, 'SIGKILL');
    // A process that is just ending, and what it held, cannot be judged for an instant.
    const { incidents } = await until(
      () => status(fleet),
      (seen) => seen.incidents.map(({ code }) => code).join() === 'continuity-held',
    );
    assert.match(incidents[0]?.detail ?? '', /the hold of .*: forensics/);
    const back = restored(fleet);
    assert.equal((await fleet.idunn('hold', 'clear', 'ghostlight')).code, 0);
    await back;
    assert.notEqual((await version(fleet)).pid, before.pid);
    assert.deepEqual((await status(fleet)).incidents, []);
    const me = userInfo().username;
    assert.deepEqual(await stopsTold(fleet, 4), [
      ['freeze.engaged', me, 'release day', 0],
      ['freeze.cleared', me, '', 0],
      ['hold.engaged', me, 'forensics', 0],
      ['hold.cleared', me, '', 0],
    ]);
  });

  await t.test('a freeze of the whole fleet without a daemon is in its history once the next one saw it', async () => {
    const daemon = await fleet.client.version();
    assert.ok(daemon.ok);
    process.kill(daemon.value.pid, 'SIGKILL');
    for (const verb of ['engage', 'clear', 'engage'] as const) {
      const ran = await fleet.idunn('freeze', verb, '--fleet', ...(verb === 'engage' ? ['--reason', 'moving'] : []));
      assert.equal(ran.code, 0, ran.err);
    }
    await fleet.daemon();
    const me = userInfo().username;
    assert.deepEqual((await stopsTold(fleet, 5)).at(-1), ['freeze.engaged', me, 'moving', 2]);
    assert.equal((await fleet.idunn('freeze', 'clear', '--fleet')).code, 0);
    assert.deepEqual((await stopsTold(fleet, 6)).at(-1), ['freeze.cleared', me, '', 0]);
  });

  await t.test('a build is cancelled, its processes end, and the incumbent was never touched', async () => {
    const before = await version(fleet);
    await fleet.edit(
      'build.mjs',
      (text) => `console.log('weaving');\nawait new Promise((r) => setTimeout(r, 60_000));\n${text}`,
    );
    const building = seen(fleet, (event) => event.event === 'progress' && String(event['text']).includes('weaving'));
    const receipt = await fleet.client.command({ kind: 'up', operationId: 'slow', target: 'ghostlight', ref: null });
    assert.ok(receipt.ok);
    await building;
    const cancelled = await fleet.idunn('cancel', receipt.value.transaction);
    assert.equal(cancelled.code, 5, cancelled.out + cancelled.err);
    assert.match(cancelled.out, /cancelled: .*ghostlight.* is as it was before/);
    assert.deepEqual(await version(fleet), before);
    const again = await fleet.idunn('cancel', receipt.value.transaction);
    assert.equal(again.code, 3, 'F21: nothing to act on');
    assert.match(again.err, /nothing-to-cancel/);
  });

  await t.test('idunn restart hands over to the same release', async () => {
    const before = await version(fleet);
    const ran = await fleet.idunn('restart', 'ghostlight');
    assert.equal(ran.code, 0, ran.out + ran.err);
    const after = await version(fleet);
    assert.equal(after.incarnation, before.incarnation);
    assert.notEqual(after.pid, before.pid);
  });

  await t.test('I8: a steward’s freeze holds, and the operator’s own clear does not clear it', async () => {
    const root = process.geteuid?.() === 0;
    const login = root ? 'daemon' : userInfo().username;
    const directory = join(fleet.work, 'steward');
    const store = join(directory, 'freeze.json');
    await mkdir(directory);
    await fleet.bind((text) => `${text}\n[steward]\nuser = "${login}"\nstore = "${store}"\n`);
    await fleet.edit('build.mjs', (text) => text.replace(/^console\.log\('weaving'\);\n.*\n/, ''));
    const words = ['--store', store, '--target-id', 'ghostlight', '--reason', 'rehearsals'];
    const engaged = await fleet.idunn('freeze', 'engage', ...words, '--owner-user', login);
    if (root) {
      assert.equal(engaged.code, 3, 'root does not speak for a steward');
      await assert.rejects(access(store), 'and changes nothing');
      assert.equal((await fleet.idunn('freeze', 'engage', ...words)).code, 0);
      await chown(store, 1, 1);
    }
    const going = await fleet.idunn('up', 'ghostlight', '--timeout', '20', '--operation-id', 'stewarded');
    assert.equal(going.code, 4, going.out + going.err);
    await fleet.idunn('freeze', 'clear', 'ghostlight');
    const { transaction } = await status(fleet);
    assert.match(transaction?.waitingOn?.what ?? '', new RegExp(`the freeze of its steward ${login}: rehearsals`));
    assert.match(transaction?.waitingOn?.remedy ?? '', new RegExp(`^as ${login}: idunn freeze clear --store`));
    assert.ok(transaction);
    assert.equal((await fleet.idunn('cancel', transaction.id)).code, 5, 'a frozen deployment can be withdrawn');
    const told = (await stopsTold(fleet, 7)).filter((entry) => (entry as string[])[2] === 'rehearsals');
    assert.deepEqual(told, [['freeze.engaged', login, 'rehearsals', 0]], 'named by the binding');
  });
});
