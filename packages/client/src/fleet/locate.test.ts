import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Answer } from '../answer.ts';
import { fleetDirectories } from './directories.ts';
import { type Located, locateFleet } from './locate.ts';

async function places(t: TestContext): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'idunn-locate-'));
  t.after(() => rm(root, { recursive: true }));
  for (const fleet of ['option', 'variable', 'pointed', 'home/.config/idunn']) {
    await mkdir(join(root, fleet), { recursive: true });
    await writeFile(
      join(root, fleet, 'fleet.toml'),
      'schema = "idunn.fleet/v1"\nid = "test"\n[directories]\nruntime = "run"\n',
    );
  }
  await mkdir(join(root, 'project/deep/er'), { recursive: true });
  await writeFile(join(root, 'project/.idunn.toml'), 'fleet = "../pointed"\n');
  return root;
}

const request = (root: string, change: { option?: string; variable?: string; directory?: string } = {}) => ({
  option: change.option,
  directory: join(root, change.directory ?? 'project/deep/er'),
  home: join(root, 'home'),
  variable: (name: string) => (name === 'IDUNN_FLEET' ? change.variable : undefined),
});

const found = (answer: Answer<Located>): string =>
  answer.ok ? `${answer.value.directory} by ${answer.value.by}` : answer.refusal.code;

test('the fleet is found by option, variable, pointer above and configuration directory, in that order', async (t) => {
  const root = await places(t);
  const variable = join(root, 'variable');
  assert.equal(
    found(await locateFleet(request(root, { option: '../../../option', variable }))),
    `${root}/option by --fleet`,
  );
  assert.equal(found(await locateFleet(request(root, { variable }))), `${root}/variable by IDUNN_FLEET`);
  assert.equal(found(await locateFleet(request(root))), `${root}/pointed by ${root}/project/.idunn.toml`);
  const configured = `${root}/home/.config/idunn`;
  assert.equal(found(await locateFleet(request(root, { directory: 'home' }))), `${configured} by ${configured}`);
});

test('a name that leads nowhere is refused, never passed over', async (t) => {
  const root = await places(t);
  assert.equal(found(await locateFleet(request(root, { option: 'nowhere' }))), 'fleet-not-found');
  assert.equal(found(await locateFleet(request(root, { variable: 'nowhere' }))), 'fleet-not-found');
  await writeFile(join(root, 'project/.idunn.toml'), 'fleet = "../gone"\n');
  assert.equal(found(await locateFleet(request(root))), 'fleet-not-found');
  await writeFile(join(root, 'project/.idunn.toml'), 'flee');
  assert.equal(found(await locateFleet(request(root))), 'fleet-pointer-invalid');
});

test('directories are relative to the fleet, with defaults for what is not named', async (t) => {
  const root = await places(t);
  const account = { root: false, home: '/home/ada', variable: () => undefined };
  const answer = await fleetDirectories(join(root, 'option'), account);
  assert.ok(answer.ok);
  assert.equal(answer.value.runtime, join(root, 'option/run'));
  assert.equal(answer.value.state, '/home/ada/.local/state/idunn/test/state');
  await writeFile(join(root, 'option/fleet.toml'), 'id = ');
  const broken = await fleetDirectories(join(root, 'option'), account);
  assert.equal(broken.ok ? '' : broken.refusal.code, 'fleet-pointer-invalid');
});
