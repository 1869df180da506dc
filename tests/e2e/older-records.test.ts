import assert from 'node:assert/strict';
import { copyFile, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Fleet, makeFleet } from './lib/fleet.ts';
import { until } from './lib/until.ts';
import { ask, journal, json, type VersionAnswer } from './lib/world.ts';

const RECORDS = ['records.sqlite', 'records.sqlite-wal'];

/** Ends the daemon as a power cut does, has something done to its records, and starts it again. */
async function whileDown(fleet: Fleet, pid: number, change: () => Promise<void>): Promise<number> {
  process.kill(pid, 'SIGKILL');
  await until(
    () => fleet.client.status(),
    (answer) => !answer.ok,
  );
  await change();
  return fleet.daemon();
}

/** Nothing of it runs; whoever has to may not have asked for its exit yet. */
const isGone = (pid: number): Promise<boolean> =>
  readFile(`/proc/${pid}/stat`, 'utf8').then(
    (stat) => / [ZX] /.test(stat),
    () => true,
  );

const incidentsOf = async (fleet: Fleet) => {
  const { incidents } = JSON.parse((await fleet.idunn('incidents', 'ghostlight', '--json')).out) as {
    incidents: { code: string; detail: string; remedy: string }[];
  };
  return incidents;
};

test('I1, I9: nothing is granted over a holder that older records do not know until it is set aside', async (t) => {
  const fleet = await makeFleet(t);
  const [state, kept] = [join(fleet.work, 'state'), join(fleet.work, 'kept-')];
  const first = await fleet.daemon();
  assert.equal((await fleet.up('ghostlight')).code, 0);
  await ask(fleet.url, '/events', { id: 'e-1', text: 'of the first build' });
  const before = await json<VersionAnswer>(fleet.url, '/version');
  const second = await whileDown(fleet, first, async () => {
    for (const file of RECORDS) await copyFile(join(state, file), `${kept}${file}`);
  });
  await fleet.edit('src/main.js', (text) => `${text}\n// another build\n`);
  assert.equal((await fleet.up('ghostlight')).code, 0);
  await ask(fleet.url, '/events', { id: 'e-2', text: 'of the second build' });
  const unknown = await json<VersionAnswer>(fleet.url, '/version');
  assert.notEqual(unknown.incarnation, before.incarnation);

  await whileDown(fleet, second, async () => {
    for (const file of [...RECORDS, 'records.sqlite-shm']) await rm(join(state, file), { force: true });
    for (const file of RECORDS) await copyFile(`${kept}${file}`, join(state, file));
  });
  const open = await until(
    () => incidentsOf(fleet),
    (incidents) => incidents.some(({ code }) => code === 'lease-row-unexpected'),
  );
  const told = open.find(({ code }) => code === 'lease-row-unexpected');
  assert.match(told?.remedy ?? '', /idunn takeover/);
  const [holder] = /act-[0-9a-f]{32}/.exec(told?.detail ?? '') ?? assert.fail(JSON.stringify(open));
  assert.equal((await json<VersionAnswer>(fleet.url, '/version')).pid, unknown.pid, 'it serves on');

  const wrong = await fleet.idunn('takeover', 'ghostlight', '--confirm', `${holder.slice(0, -1)}x`);
  assert.equal(wrong.code, 3);
  assert.match(wrong.out + wrong.err, new RegExp(`idunn takeover ghostlight --confirm ${holder}`));
  assert.equal((await json<VersionAnswer>(fleet.url, '/version')).pid, unknown.pid, 'F21: nothing has changed');

  const taken = await fleet.idunn('takeover', 'ghostlight', '--confirm', holder);
  assert.equal(taken.code, 0, taken.out + taken.err);
  assert.ok(await isGone(unknown.pid), 'it was seen gone before the takeover was done');
  const back = await until(
    () => json<VersionAnswer>(fleet.url, '/version').catch(() => null),
    (answer) => answer !== null && answer.pid !== unknown.pid,
  );
  assert.equal(back?.incarnation, before.incarnation, 'what the records have admitted serves again');
  await ask(fleet.url, '/events', { id: 'e-3', text: 'of the first build again' });
  assert.deepEqual(
    (await journal(fleet.url)).map(({ id }) => id),
    ['e-1', 'e-2', 'e-3'],
  );
  await until(
    () => incidentsOf(fleet),
    (incidents) => incidents.length === 0,
  );
  const again = await fleet.idunn('takeover', 'ghostlight', '--confirm', holder);
  assert.equal(again.code, 3);
  assert.match(again.out + again.err, /nothing-to-take-over/);
});
