import assert from 'node:assert/strict';
import { appendFile, copyFile, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFleet } from './lib/fleet.ts';
import { until } from './lib/until.ts';
import { ask, journal, json, type VersionAnswer } from './lib/world.ts';

test('I9: what was sealed with an interpreter of the host is brought back under its replacement', async (t) => {
  const fleet = await makeFleet(t);
  const node = join(fleet.work, 'node');
  await copyFile(process.execPath, node);
  await fleet.bind((text) => {
    const bound = text.replace(/(\[interpreter\.node\]\n(?:.*\n)*?path = )"[^"]*"/, `$1"${node}"`);
    assert.notEqual(bound, text);
    return bound;
  });
  await fleet.daemon();
  assert.equal((await fleet.up('ghostlight')).code, 0);
  await ask(fleet.url, '/events', { id: 'e-1', text: 'kept' });
  const before = await json<VersionAnswer>(fleet.url, '/version');
  const incidents = async (...words: readonly string[]) => {
    const { out } = await fleet.idunn('incidents', 'ghostlight', '--json', ...words);
    return (JSON.parse(out) as { incidents: { code: string; detail: string; closedAt: string | null }[] }).incidents;
  };
  assert.deepEqual(await incidents(), []);

  // As a package manager does it: another file in the place of the old one, which runs on.
  await copyFile(node, `${node}.new`);
  await appendFile(`${node}.new`, 'a later version');
  await rename(`${node}.new`, node);
  process.kill(before.pid, 'SIGKILL');
  const open = await until(incidents, (all) => all.some(({ code }) => code === 'interpreter-changed'));
  const detail = open.find(({ code }) => code === 'interpreter-changed')?.detail ?? '';
  assert.ok(detail.startsWith(`${node} of the host is sha256:`), detail);
  const after = await json<VersionAnswer>(fleet.url, '/version');
  assert.equal(after.incarnation, before.incarnation);
  assert.notEqual(after.pid, before.pid);
  assert.equal((await journal(fleet.url))[0]?.id, 'e-1');
  await ask(fleet.url, '/events', { id: 'e-2', text: 'and it writes on' });

  const { code, outcome } = await fleet.up('ghostlight');
  assert.equal(code, 0, JSON.stringify(outcome));
  assert.notEqual(outcome.incarnation, before.incarnation, 'sealed anew with the interpreter of now');
  await until(incidents, (all) => all.length === 0);
  const closed = (await incidents('--all')).find((one) => one.code === 'interpreter-changed');
  assert.notEqual(closed?.closedAt ?? null, null);
  assert.ok((await readFile(node)).length > 0);
});
