import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFleet } from './lib/fleet.ts';
import { authorizerOf, builderOf, buildOf, STAMP, takesFrom } from './lib/ladder.ts';

test('code climbs a ladder of fleets by its build: nothing is built twice, nobody else’s is taken in', async (t) => {
  const [dev, qa] = [await makeFleet(t), await makeFleet(t)];
  await dev.edit('deployment/idunn/recipe.toml', (text) => text.replace('[[artifact]]', `${STAMP}\n[[artifact]]`));
  await dev.daemon();
  const built = await dev.up('ghostlight');
  assert.equal(built.code, 0, JSON.stringify(built.outcome));
  const authorizer = await authorizerOf(qa);
  await takesFrom(qa, dev, authorizer.publicKey, [await builderOf(dev)]);
  await qa.daemon();
  const ladder = join(dev.work, 'ladder.yaml');
  await writeFile(
    ladder,
    `apiVersion: idunn.ladder/v1
slots:
  - {name: dev, namespace: ${dev.id}, role: dev, guarded: false, promotes_to: [qa]}
  - {name: qa, namespace: ${qa.id}, role: qa, guarded: false}
`,
  );
  await writeFile(
    join(dev.work, 'places.yaml'),
    `apiVersion: idunn.places/v1
audit: audit.log
slots:
  dev: {runs: {kind: idunn, fleet: ${dev.directory}}}
  qa: {runs: {kind: idunn, fleet: ${qa.directory}, authorizer: ${authorizer.file}}}
`,
  );
  const climb = (...words: readonly string[]) => dev.idunn('ladder', ...words, '--ladder', ladder);

  const promoted = await climb('promote', 'dev', 'qa', '--workload', 'ghostlight', '--deadline', '60');
  assert.equal(promoted.code, 0, promoted.out + promoted.err);
  const build = await buildOf(dev);
  assert.equal(await buildOf(qa), build, 'the same build, byte for byte');
  assert.match(promoted.out, new RegExp(`^promoted: ghostlight in ${qa.id} runs ${build}; before, nothing\\.`));
  const verified = await qa.idunn('verify', 'ghostlight', '--json');
  assert.equal(verified.code, 0, verified.out);
  assert.match((await climb('graph', '--observe')).out, /green +qa/);

  const again = await climb('promote', 'dev', 'qa', '--workload', 'ghostlight', '--deadline', '60');
  assert.match(again.out, new RegExp(`^promoted: .* runs ${build}; before, ${build}`));

  // Without the builder's key in its binding, the fleet takes nothing in.
  await takesFrom(qa, dev, authorizer.publicKey, []);
  await dev.edit('deployment/idunn/recipe.toml', (text) => `${text}\n# another\n`);
  assert.equal((await dev.up('ghostlight')).code, 0);
  const refused = await climb('promote', 'dev', 'qa', '--workload', 'ghostlight', '--deadline', '60');
  assert.deepEqual([refused.code, /builder-unknown/.test(refused.err)], [3, true], refused.err);
  assert.equal(await buildOf(qa), build);
  const slept = await climb('sleep', 'qa');
  assert.equal(slept.code, 3, slept.err);
});
