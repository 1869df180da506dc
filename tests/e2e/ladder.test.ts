import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Fleet, makeFleet } from './lib/fleet.ts';

/** A step whose product is never the same twice: whoever builds again comes to another build. */
const STAMP = `
[[step]]
id = "stamp"
profile = "build"
argv = ["node", "-e", "require('fs').writeFileSync('src/stamp.txt', String(Math.random()))"]
`;

test('code climbs a ladder of fleets by its build: nothing is built twice, nobody else’s is taken in', async (t) => {
  const [dev, qa] = [await makeFleet(t), await makeFleet(t)];
  await dev.edit('deployment/idunn/recipe.toml', (text) => text.replace('[[artifact]]', `${STAMP}\n[[artifact]]`));
  await dev.daemon();
  const built = await dev.up('ghostlight');
  assert.equal(built.code, 0, JSON.stringify(built.outcome));
  const keys = JSON.parse((await dev.idunn('key', 'list', '--json')).out) as {
    keys: readonly { purpose: string; publicKey: string }[];
  };
  const builder = keys.keys.find(({ purpose }) => purpose === 'authority')?.publicKey ?? '';
  const authorizer = join(qa.work, 'authorizer');
  const made = JSON.parse((await qa.idunn('key', 'authorizer', authorizer, '--json')).out) as { publicKey: string };
  await takesFrom(qa, dev, made.publicKey, [builder]);
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
  qa: {runs: {kind: idunn, fleet: ${qa.directory}, authorizer: ${authorizer}}}
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
  await takesFrom(qa, dev, made.publicKey, []);
  await dev.edit('deployment/idunn/recipe.toml', (text) => `${text}\n# another\n`);
  assert.equal((await dev.up('ghostlight')).code, 0);
  const refused = await climb('promote', 'dev', 'qa', '--workload', 'ghostlight', '--deadline', '60');
  assert.deepEqual([refused.code, /builder-unknown/.test(refused.err)], [3, true], refused.err);
  assert.equal(await buildOf(qa), build);
  const slept = await climb('sleep', 'qa');
  assert.equal(slept.code, 3, slept.err);
});

const buildOf = async (fleet: Fleet): Promise<string> => {
  const status = JSON.parse((await fleet.idunn('status', 'ghostlight', '--json')).out) as {
    targets: readonly { target: string; admitted: { build: string } | null }[];
  };
  return status.targets.find(({ target }) => target === 'ghostlight')?.admitted?.build ?? 'none';
};

/** Binds a fleet to the repository of another, its authorizer, and the builders that it takes builds from. */
async function takesFrom(fleet: Fleet, lower: Fleet, authorizer: string, builders: readonly string[]): Promise<void> {
  const below = await readFile(join(lower.directory, 'bindings/ghostlight.toml'), 'utf8');
  const line = (name: string): string => new RegExp(`^${name} = .*$`, 'm').exec(below)?.[0] ?? '';
  const words = [
    'selection = "signed-authorization"',
    `authorizers = ["${authorizer}"]`,
    `builders = ${JSON.stringify(builders)}`,
  ];
  await fleet.bind((text) =>
    text
      .replace(/^(?:selection|authorizers|builders) = .*\n/gm, '')
      .replace(/^origin = .*$/m, line('origin'))
      .replace(/^minimum_revision = .*$/m, line('minimum_revision'))
      .replace('[source]', ['[source]', ...words].join('\n')),
  );
}
