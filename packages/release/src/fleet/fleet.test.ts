import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { loadFleet, readFleet } from '../adapters/fleet-loader.ts';
import { faultsOf, renderFaults } from '../configuration/fault.ts';
import { change, docsExample, faultLines, refusalOf, valueOf } from '../testing/documents.ts';
import { resolveDirectories } from './directories.ts';
import { parseFleet } from './parse.ts';

const example = docsExample('fleet');
const account = { root: false, home: '/home/ada', environment: {} };

async function directory(context: TestContext, files: Readonly<Record<string, string | Uint8Array>>): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'idunn-fleet-'));
  context.after(() => rm(root, { recursive: true, force: true }));
  await mkdir(join(root, 'bindings'));
  for (const [name, text] of Object.entries(files)) await writeFile(join(root, name), text);
  return root;
}

const almanac = change(docsExample('binding'), 'target = "ghostlight"', 'target = "almanac"').replace('8080', '8081');

test('the example of the docs is a fleet with both of its bindings', async (context) => {
  const root = await directory(context, {
    'fleet.toml': example,
    'bindings/ghostlight.toml': docsExample('binding'),
    'bindings/almanac.toml': almanac,
    'bindings/notes.txt': 'not a binding',
  });
  const fleet = valueOf(await loadFleet(root, account));
  assert.equal(fleet.id, 'home');
  assert.equal(fleet.root, root);
  assert.deepEqual([...fleet.bindings.keys()], ['almanac', 'ghostlight']);
  assert.deepEqual(fleet.profiles, { worlds: ['ghostlight', 'almanac'] });
  assert.equal(fleet.directories.cache, join(root, 'var/cache'));
});

test('I10: a pipe in the place of a binding is its fault, and is waited for by nobody', async (context) => {
  const root = await directory(context, { 'fleet.toml': example, 'of-another.toml': docsExample('binding') });
  await symlink(join(root, 'of-another.toml'), join(root, 'bindings/ghostlight.toml'));
  execFileSync('mkfifo', [join(root, 'bindings/almanac.toml')]);
  const { fleet, faults } = await readFleet(root, account);
  assert.deepEqual([...(fleet?.bindings.keys() ?? [])], ['ghostlight']);
  assert.match(faults[0]?.message ?? '', /almanac.toml is no plain file/);
});

test('the faults of all files are reported at once, and the valid bindings stay usable', async (context) => {
  const root = await directory(context, {
    'fleet.toml': change(example, '"almanac"', '"alamanc"'),
    'bindings/a.toml': docsExample('binding'),
    'bindings/b.toml': change(docsExample('binding'), 'ref = "refs/heads/main"', 'ref = "main"'),
    'bindings/c.toml': 'target = ',
    'bindings/d.toml': Buffer.from([0x74, 0xff]),
    'bindings/e.toml': docsExample('binding'),
    'bindings/f.toml': change(docsExample('binding'), 'target = "ghostlight"', 'target = "other"'),
  });
  const outcome = await loadFleet(root, account);
  const found = faultsOf(refusalOf(outcome)).map(
    ({ file, line, code }) => `${file.slice(root.length + 1)}:${line} ${code}`,
  );
  assert.deepEqual(found, [
    'bindings/b.toml:8 invalid-value',
    'bindings/c.toml:1 toml-syntax',
    'bindings/d.toml:1 configuration-unreadable',
    'bindings/e.toml:2 duplicate-name',
    'bindings/f.toml:38 duplicate-name',
    'fleet.toml:22 undefined-reference',
  ]);
  assert.match(renderFaults(faultsOf(refusalOf(outcome))), /against .*a\.toml:2:1\n/);
  const { fleet } = await readFleet(root, account);
  assert.deepEqual([...(fleet?.bindings.keys() ?? [])], ['ghostlight']);
});

test('a fleet without its file is a fault with the reason, never an empty fleet', async (context) => {
  const root = await directory(context, {});
  const outcome = await loadFleet(root, account);
  assert.equal(refusalOf(outcome).code, 'configuration-unreadable');
  assert.match(refusalOf(outcome).reason, /fleet\.toml.*it is not there/);
});

test('directories: as root, as a user, with XDG, and relative ones from the fleet directory', () => {
  const { fleet } = valueOf(parseFleet('schema = "idunn.fleet/v1"\nid = "home"\n', 'fleet.toml'));
  assert.deepEqual(resolveDirectories('/etc/idunn', fleet, { ...account, root: true }), {
    state: '/var/lib/idunn/home/state',
    runtime: '/run/idunn/home',
    releases: '/var/lib/idunn/home/releases',
    logs: '/var/log/idunn/home',
    cache: '/var/cache/idunn/home',
  });
  assert.deepEqual(resolveDirectories('/f', fleet, account), {
    state: '/home/ada/.local/state/idunn/home/state',
    runtime: '/home/ada/.local/state/idunn/home/run',
    releases: '/home/ada/.local/state/idunn/home/releases',
    logs: '/home/ada/.local/state/idunn/home/logs',
    cache: '/home/ada/.cache/idunn/home',
  });
  const environment = { XDG_RUNTIME_DIR: '/run/user/7', XDG_STATE_HOME: 'relative', XDG_CACHE_HOME: '/c' };
  const xdg = resolveDirectories('/f', fleet, { ...account, environment });
  assert.deepEqual([xdg.runtime, xdg.cache], ['/run/user/7/idunn/home', '/c/idunn/home']);
  assert.match(xdg.state, /^\/home\/ada/);
});

test('a profile that is no list says what it may be', () => {
  const text = 'schema = "idunn.fleet/v1"\nid = "h"\n[profiles]\nall = 1\n';
  assert.deepEqual(faultLines(parseFleet(text, 'fleet.toml')), [
    '4:1 invalid-value profiles.all: a list of targets, or a table with targets',
  ]);
});

test('fleet.toml: unknown fields, a port range that is none, and placements are refused', () => {
  const text =
    'schema = "idunn.fleet/v1"\nid = "h"\ndaemn = 1\n[ports]\nfrom = 9\nto = 8\n' +
    '[profiles.a]\ntargets = ["x"]\nplacement = { nodes = ["n"] }\n';
  assert.deepEqual(faultLines(parseFleet(text, 'fleet.toml')), [
    '3:1 unknown-field unknown field daemn',
    '9:1 feature-not-yet-supported placements of profiles: not yet supported',
    '6:1 invalid-value ports.to: it must be above ports.from',
  ]);
});
