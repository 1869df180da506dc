import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFleet } from './lib/fleet.ts';
import { journal, json, type VersionAnswer, writers } from './lib/world.ts';

const alive = (pid: number): boolean => existsSync(`/proc/${pid}`);

test('I1: a program with files beside its database is followed only when all of it is gone', async (t) => {
  const fleet = await makeFleet(t);
  await fleet.daemon();
  await fleet.edit('deployment/idunn/recipe.toml', (text) =>
    text.replace(
      '[[capability]]',
      '[[state.store]]\nid = "uploads"\nkind = "files"\npath = "uploads"\n\n[[capability]]',
    ),
  );
  // Whoever has the grant writes a file, as long as it lives.
  await fleet.edit('src/main.js', (text) =>
    text
      .replace(
        'idunn.onGrant(() => journal.create());',
        `idunn.onGrant(() => {
  journal.create();
  const line = () => appendFileSync(join(idunn.path('uploads'), 'writers'), process.pid + '\\n');
  line();
  setInterval(line, 1).unref();
});`,
      )
      .replace(
        "import { readFileSync } from 'node:fs';",
        "import { appendFileSync, readFileSync } from 'node:fs';\nimport { join } from 'node:path';",
      ),
  );
  const plan = JSON.parse((await fleet.idunn('plan', 'ghostlight', '--json')).out) as {
    state: { lease: string; fence: string; root: string };
  };
  const { lease, fence, root } = plan.state;
  assert.deepEqual([lease, fence], ['rows', 'tree-empty']);
  await mkdir(join(root, 'uploads'));
  const first = await fleet.up('ghostlight');
  assert.equal(first.code, 0, JSON.stringify(first.outcome));
  const before = await json<VersionAnswer>(fleet.url, '/version');

  const load = writers(fleet.url, 2);
  await fleet.edit('package.json', (text) => text.replace('"1.0.0"', '"1.0.1"'));
  const second = await fleet.up('ghostlight');
  const { acked, failed } = await load.stop();
  assert.equal(second.code, 0, JSON.stringify(second.outcome));
  const after = await json<VersionAnswer>(fleet.url, '/version');
  assert.equal(after.version, '1.0.1');
  assert.ok(!alive(before.pid) && alive(after.pid));
  // Every line of the incumbent comes before every line of its successor.
  const lines = (await readFile(join(root, 'uploads/writers'), 'utf8')).trimEnd().split('\n');
  assert.equal(lines.lastIndexOf(String(before.pid)) + 1, lines.indexOf(String(after.pid)));
  assert.deepEqual(failed.slice(0, 5), []);
  const kept = new Map((await journal(fleet.url)).map((event) => [event.id, event]));
  for (const event of acked) assert.equal(kept.get(event.id)?.hash, event.hash, `${event.id} was acknowledged`);
});
