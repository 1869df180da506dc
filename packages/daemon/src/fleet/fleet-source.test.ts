import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fleetDirectories } from '@idunn/client';
import { faultsOf } from '@idunn/release';
import { openFleet } from './fleet-source.ts';

const nobody = { root: false, home: '/home/ada', environment: {} };

async function fleetDirectory(t: TestContext, text: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'idunn-fleet-'));
  t.after(() => rm(directory, { recursive: true }));
  await mkdir(join(directory, 'bindings'));
  await writeFile(join(directory, 'fleet.toml'), text);
  return directory;
}

test('the command reads the same directories out of fleet.toml as the daemon', async (t) => {
  const directory = await fleetDirectory(
    t,
    'schema = "idunn.fleet/v1"\nid = "home"\n[directories]\nruntime = "run"\nlogs = "/l"\n',
  );
  const environments: Record<string, string>[] = [
    {},
    { XDG_STATE_HOME: '/s', XDG_RUNTIME_DIR: '/run/user/7', XDG_CACHE_HOME: '/c' },
    { XDG_STATE_HOME: 'relative', XDG_RUNTIME_DIR: 'relative' },
  ];
  for (const root of [true, false]) {
    for (const environment of environments) {
      for (const text of ['schema = "idunn.fleet/v1"\nid = "home"\n', null]) {
        if (text !== null) await writeFile(join(directory, 'fleet.toml'), text);
        const source = await openFleet(directory, { root, home: '/home/ada', environment });
        assert.ok(source.ok);
        const lenient = await fleetDirectories(directory, {
          root,
          home: '/home/ada',
          variable: (name) => environment[name],
        });
        assert.ok(lenient.ok);
        assert.deepEqual(lenient.value, source.value.last.fleet.directories);
      }
    }
  }
});

test('files are read anew each time; a faulty binding stays a target, with its faults', async (t) => {
  const directory = await fleetDirectory(t, 'schema = "idunn.fleet/v1"\nid = "home"\n');
  const opened = await openFleet(directory, nobody);
  assert.ok(opened.ok);
  const source = opened.value;
  assert.deepEqual(source.last.targets, []);
  await writeFile(join(directory, 'bindings/ghostlight.toml'), 'schema = 3\n');
  const reading = await source.read();
  assert.deepEqual(reading.targets, ['ghostlight']);
  assert.ok(reading.faults.length > 0);
  await writeFile(join(directory, 'fleet.toml'), 'id = ');
  const broken = await source.read();
  assert.equal(broken.fleet.id, 'home');
  assert.ok(broken.faults.some(({ file }) => file.endsWith('fleet.toml')));
});

test('I10: a faulty binding that a profile names is no fault of fleet.toml, and stops no other target', async (t) => {
  const directory = await fleetDirectory(t, 'schema = "idunn.fleet/v1"\nid = "home"\n[profiles]\nall = ["other"]\n');
  await writeFile(join(directory, 'bindings/other.toml'), 'schema = 3\n');
  const opened = await openFleet(directory, nobody);
  assert.ok(opened.ok);
  const faults = opened.value.last.faults;
  assert.ok(faults.length > 0 && faults.every(({ file }) => file.endsWith('bindings/other.toml')));
  assert.ok((await opened.value.readFor('ghostlight')).ok);
  assert.ok(!(await opened.value.readFor('other')).ok);
  await rm(join(directory, 'bindings/other.toml'));
  const whole = await opened.value.read();
  assert.deepEqual(
    whole.faults.map(({ message }) => message),
    ['no binding of the fleet has the target "other"'],
  );
});

test('a fleet.toml that was never good is refused with its faults', async (t) => {
  const refused = await openFleet(await fleetDirectory(t, 'id = '), nobody);
  assert.ok(!refused.ok && faultsOf(refused.refusal).length > 0);
});
