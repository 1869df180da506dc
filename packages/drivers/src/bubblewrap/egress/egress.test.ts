import assert from 'node:assert/strict';
import { existsSync, realpathSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import type { NetworkProfile } from '@idunn/release';
import { CERTIFICATE, openRegistry } from '../testing/registry.ts';
import { sandboxBench } from '../testing/sandbox.ts';
import { connectDestination, isAdmitted, requestDestination } from './destination.ts';

const profile = (port: number, more: Partial<NetworkProfile> = {}): NetworkProfile => ({
  name: 'registries',
  hosts: [{ host: 'localhost', port }],
  connections: 8,
  maxBytes: 1_000_000,
  ...more,
});

/** Fetches each URL by Python's own library, which finds the proxy by its usual variables. */
const fetching = (...urls: readonly string[]): string => `
import urllib.request
for url in ${JSON.stringify(urls)}:
    try: print(urllib.request.urlopen(url, timeout=10).status)
    except urllib.error.HTTPError as error: print(error.code, error.read().decode().strip())
    except OSError as error: print(type(error).__name__)
`;

test('npm ci installs from an admitted registry by its lockfile, and what was contacted is known', async (context) => {
  const registry = await openRegistry(context, 'https');
  const { run, paths, lines } = await sandboxBench(context);
  await writeFile(
    join(paths.tree, 'package.json'),
    JSON.stringify({ name: 'app', version: '1.0.0', dependencies: { greeting: '1.0.0' } }),
  );
  await writeFile(join(paths.tree, 'package-lock.json'), registry.lockfile);
  await writeFile(join(paths.tree, 'ca.pem'), CERTIFICATE);
  const npm = npmDirectory();
  const outcome = await run(
    '',
    { argv: ['node', '/npm/bin/npm-cli.js', 'ci', ...QUIET, '--registry', registry.url] },
    {
      mounts: [{ source: npm, destination: '/npm' }],
      environment: { PATH: '/usr/bin:/bin', NODE_EXTRA_CA_CERTS: '/idunn/tree/ca.pem' },
      network: profile(registry.port),
    },
  );
  assert.ok(outcome.ok, `${lines.join('\n')} ${JSON.stringify(outcome)}`);
  assert.deepEqual(outcome.value.contacted, [`localhost:${registry.port}`]);
  assert.deepEqual(registry.asked, ['GET /greeting/-/greeting-1.0.0.tgz']);
  assert.match(await readFile(join(paths.tree, 'node_modules/greeting/index.js'), 'utf8'), /hail/);
  assert.ok(!existsSync(join(paths.root, 'egress.sock')));
});

test('I11: what the profile does not list is refused by name, whatever it is called, and told', async (context) => {
  const [admitted, other] = [await openRegistry(context, 'http'), await openRegistry(context, 'http')];
  const { run, lines } = await sandboxBench(context);
  const script = fetching(
    `${admitted.url}/a.tgz`,
    `${other.url}/a.tgz`,
    `http://127.0.0.1:${admitted.port}/a.tgz`,
    `https://localhost:${other.port}/`,
  );
  const outcome = await run(script, {}, { network: profile(admitted.port) });
  assert.ok(outcome.ok, lines.join('\n'));
  assert.deepEqual(outcome.value.contacted, [`localhost:${admitted.port}`]);
  assert.deepEqual(other.asked, []);
  const refusal = (place: string): string => `network registries does not admit ${place}`;
  assert.deepEqual(
    lines.filter((line) => /^\d/.test(line) || line === 'URLError'),
    ['200', `403 ${refusal(`localhost:${other.port}`)}`, `403 ${refusal(`127.0.0.1:${admitted.port}`)}`, 'URLError'],
  );
  assert.ok(lines.includes(refusal(`localhost:${other.port}`)));
});

test('a failed step says what the network refused it', async (context) => {
  const { run } = await sandboxBench(context);
  const script = 'import urllib.request; urllib.request.urlopen("http://elsewhere.example/")';
  const outcome = await run(script, {}, { network: profile(1) });
  assert.match(outcome.ok ? '' : outcome.refusal.reason, /Network registries does not admit elsewhere\.example:80\.$/);
});

test('a step moves no more than its bytes and holds no more than its connections', async (context) => {
  const registry = await openRegistry(context, 'http');
  const { run, lines } = await sandboxBench(context);
  const url = `${registry.url}/a.tgz`;
  const outcome = await run(
    fetching(...Array(8).fill(url)),
    {},
    { network: profile(registry.port, { maxBytes: 900 }) },
  );
  assert.ok(outcome.ok);
  const answers = lines.filter((line) => /^\d/.test(line));
  assert.equal(answers[0], '200');
  assert.equal(answers.at(-1), '403 network registries: its 900 bytes are used up');
  const hold = `
import socket
def tunnel():
    s = socket.create_connection(("127.0.0.1", 3128), 10)
    s.sendall(b"CONNECT localhost:${registry.port} HTTP/1.1\\r\\n\\r\\n")
    return s, s.recv(12)
held = [tunnel() for n in range(3)]
print([answer[9:12] for _, answer in held])
`;
  assert.ok((await run(hold, {}, { network: profile(registry.port, { connections: 2 }) })).ok);
  assert.equal(
    lines.findLast((line) => line.startsWith('[')),
    "[b'200', b'200', b'403']",
  );
});

test('without a network there is no way out at all', async (context) => {
  const registry = await openRegistry(context, 'http');
  const { run, lines } = await sandboxBench(context);
  assert.ok((await run(fetching(`${registry.url}/a.tgz`))).ok);
  assert.deepEqual(lines, ['URLError']);
  assert.deepEqual(registry.asked, []);
});

test('a destination is exactly host and port; look-alikes are others', () => {
  const only = profile(443, { hosts: [{ host: 'registry.example.org', port: 443 }] });
  const admitted = (authority: string): boolean => {
    const destination = connectDestination(authority);
    return destination !== null && isAdmitted(only, destination);
  };
  assert.ok(admitted('registry.example.org:443'));
  assert.ok(admitted('Registry.Example.Org:443'));
  for (const other of [
    'registry.example.org:80',
    'registry.example.org.evil.org:443',
    'evil-registry.example.org:443',
    'registry.example.org.:443',
    'user@registry.example.org:443',
    'registry.example.org',
    '[::1]:443',
    'registry.example.org:443:443',
  ])
    assert.ok(!admitted(other), other);
  assert.equal(requestDestination('ftp://registry.example.org/'), null);
  assert.equal(requestDestination('http://user:word@registry.example.org/'), null);
  assert.deepEqual(requestDestination('http://a.example/b?c'), { host: 'a.example', port: 80, path: '/b?c' });
});

/** npm asks the registry for more than the lockfile names otherwise. */
const QUIET = ['--no-audit', '--no-fund', '--no-update-notifier'];

/** The machine's npm: its own package directory. */
function npmDirectory(): string {
  const places = [join(dirname(process.execPath), 'npm'), '/usr/bin/npm', '/usr/local/bin/npm'];
  const found = places.find((path) => existsSync(path));
  assert.ok(found !== undefined, `npm is in none of ${places.join(', ')}`);
  return dirname(dirname(realpathSync(found)));
}
