import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultsOf } from '../configuration/fault.ts';
import { binding, change, docsExample, faultLines, refusalOf } from '../testing/documents.ts';
import { parseBinding } from './parse.ts';
import { unsupportedInBinding } from './unsupported.ts';

const example = docsExample('binding');
const faults = (text: string): string[] => faultLines(parseBinding(text, 'binding.toml'));

test('the example of the docs is a valid binding, with the documented defaults', () => {
  const parsed = binding(example).binding;
  assert.equal(parsed.target, 'ghostlight');
  assert.equal(parsed.workload.driver, 'process');
  assert.equal(parsed.deadlines.warming_ms, 30_000);
  assert.equal(parsed.deadlines.seal_ms, 3_600_000);
  assert.deepEqual(parsed.route?.listen, { host: '127.0.0.1', port: 8080 });
});

test('all faults come at once, each with its line', () => {
  const text = [
    'schema = "idunn.binding/v1"',
    'target = "app"',
    '[source]',
    'origin = "git@example.org:app.git"',
    'ref = "main"',
    'minimum_revision = "abc"',
    '[runner.build]',
    'kind = "host-native"',
    'allowed_programs = { node = "bin/node", "sub/sh" = "/bin/sh" }',
    '[state]',
    'root = "/srv/../etc"',
    '[route]',
    'listen = { port = 70000 }',
    'shell = true',
  ].join('\n');
  assert.deepEqual(faults(text), [
    '4:1 invalid-value source.origin: an https URL without user and password, or an absolute path',
    '5:1 invalid-value source.ref: a full ref such as refs/heads/main, as git check-ref-format accepts it',
    '6:1 invalid-value source.minimum_revision: a full git object id: 40 or 64 lower-case hexadecimal digits',
    '9:22 invalid-value runner.build.allowed_programs.node: ' +
      'an absolute path, without "..", ".", // or a slash at its end',
    '9:41 invalid-value runner.build.allowed_programs."sub/sh": a plain name without a slash, at most 64 characters',
    '11:1 invalid-value state.root: an absolute path, without "..", ".", // or a slash at its end',
    '13:12 invalid-value route.listen.port: too big: expected number to be <=65535',
    '14:1 unknown-field unknown field route.shell',
    '1:1 missing-field [endpoint] is missing: a route needs one behind it',
  ]);
});

test('a pinned object needs its commit, and only that selection has one', () => {
  const pinned = change(example, 'selection = "ref-head"', 'selection = "pinned-object"');
  assert.match(faults(pinned).join(), /missing-field source.commit/);
  const id = 'a'.repeat(40);
  assert.ok(parseBinding(change(pinned, 'recipe = ', `commit = "${id}"\nrecipe = `), 'b').ok);
  assert.match(
    faults(change(example, 'recipe = ', `commit = "${id}"\nrecipe = `)).join(),
    /only selection "pinned-object"/,
  );
});

test('a signed authorization needs authorizers, and only that selection has them', () => {
  const key = Buffer.alloc(32, 5).toString('base64');
  const signed = change(example, 'selection = "ref-head"', 'selection = "signed-authorization"');
  assert.match(faults(signed).join(), /missing-field source.authorizers/);
  assert.ok(parseBinding(change(signed, 'recipe = ', `authorizers = ["${key}"]\nrecipe = `), 'b').ok);
  assert.match(faults(change(signed, 'recipe = ', 'authorizers = ["ada"]\nrecipe = ')).join(), /authorizers\[0\]/);
  assert.match(
    faults(change(example, 'recipe = ', `authorizers = ["${key}"]\nrecipe = `)).join(),
    /only selection "signed-authorization"/,
  );
});

test('a submodule is admitted by path, origin and ref, all three', () => {
  const lines = [
    '[[source.submodule]]',
    'path = "vendor/lib"',
    'origin = "/srv/git/lib.git"',
    'ref = "refs/heads/main"',
  ];
  const withLines = (some: readonly string[]) => `${example}\n${some.join('\n')}\n`;
  assert.deepEqual(binding(withLines(lines)).binding.source.submodule, [
    { path: 'vendor/lib', origin: '/srv/git/lib.git', ref: 'refs/heads/main' },
  ]);
  for (const line of [1, 2, 3]) {
    assert.match(
      faults(withLines(lines.filter((_, index) => index !== line))).join(),
      /missing-field source.submodule/,
    );
  }
  assert.match(faults(withLines(lines.with(1, 'path = "../lib"'))).join(), /stays inside/);
  assert.match(faults(withLines(lines.with(2, 'origin = "git://example.org/lib"'))).join(), /https URL/);
});

test('an endpoint range has room for incumbent and candidate, and the stable route is outside it', () => {
  assert.match(faults(change(example, 'to_port = 21_009', 'to_port = 21_000')).join(), /at least two ports/);
  assert.match(faults(change(example, 'port = 8080', 'port = 21_003')).join(), /inside the private endpoint range/);
  assert.match(faults(change(example, 'to_port = 21_009\n', '')).join(), /go together/);
});

test('stop-then-start says why, and then one port is enough', () => {
  const stopping = change(example, 'strategy = "candidate-then-promote"', 'strategy = "stop-then-start"');
  assert.match(faults(stopping).join(), /rollout\.reason is missing/);
  const reasoned = change(stopping, '"stop-then-start"', '"stop-then-start"\nreason = "it owns the camera"');
  assert.ok(parseBinding(change(reasoned, 'to_port = 21_009', 'to_port = 21_000'), 'binding.toml').ok);
  assert.match(faults(change(reasoned, 'to_port = 21_009', 'to_port = 20_999')).join(), /below from_port/);
  const idle = change(example, '[rollout]', '[rollout]\nreason = "it owns the camera"');
  assert.match(faults(idle).join(), /only strategy "stop-then-start"/);
});

test('what only a sandbox can hold is refused of every other runner, and a mount never takes its own places', () => {
  const runner = (lines: string): string[] => faults(change(example, 'kind = "host-native"', lines));
  assert.deepEqual(
    runner('kind = "host-native"\nprocesses = 9\nnetwork = "registries"').map((line) => line.replace(/^\S+ /, '')),
    [
      'invalid-value runner.build.network: kind "host-native" cannot hold it, kind "bubblewrap" can',
      'invalid-value runner.build.processes: kind "host-native" cannot hold it, kind "bubblewrap" can',
      'undefined-reference runner.build.network: there is no [network.registries]',
    ],
  );
  for (const place of ['/', '/proc', '/dev/shm', '/tmp', '/idunn/tree']) {
    const mount = `mount = [{ source = "/a", destination = "${place}" }]`;
    assert.match(runner(`kind = "bubblewrap"\n${mount}`).join(), /is the sandbox's own/, place);
  }
  assert.match(runner('kind = "bubblewrap"\nmount = [{ source = "/a", writable = true }]').join(), /unknown field/);
});

test('a network profile names exact places', () => {
  const network = (place: string): string[] =>
    faults(change(example, '[interpreter.node]', `[network.registries]\nhosts = ["${place}"]\n[interpreter.node]`));
  assert.ok(
    parseBinding(
      change(example, '[interpreter.node]', '[network.r]\nhosts = ["a.example:443"]\n[interpreter.node]'),
      'b',
    ).ok,
  );
  for (const place of [
    'a.example',
    '*.example:443',
    'A.example:443',
    'a.example:0',
    'a.example:65536',
    'https://a:443',
  ])
    assert.match(network(place).join(), /invalid-value network.registries.hosts/, place);
});

test('an interpreter is named by its path or by its input, as its origin says', () => {
  const interpreter = (lines: string): string[] =>
    faults(change(example, 'path = "/usr/bin/node"', lines)).map((line) => line.replace(/^\S+ /, ''));
  assert.deepEqual(interpreter('origin = "input"\npath = "/usr/bin/node"'), [
    'missing-field interpreter.node.input is missing: its origin is "input"',
    'invalid-value interpreter.node.path: an interpreter of origin "input" has none',
  ]);
  assert.deepEqual(interpreter('input = "node-26"'), [
    'missing-field interpreter.node.path is missing: its origin is "host"',
    'invalid-value interpreter.node.input: an interpreter of origin "host" has none',
  ]);
});

const swaps: Readonly<Record<string, readonly [string, string]>> = {
  replicas: ['node = "local"', 'replicas = 2'],
  'runner.*.kind': ['kind = "host-native"', 'kind = "container"'],
  'runner.*.image': ['kind = "host-native"', `kind = "container"\nimage = "sha256:0"`],
  'runner.*.devices.*': ['kind = "host-native"', 'kind = "host-native"\ndevices = ["/dev/kvm"]'],
  'roots.*': ['[endpoint]', '[roots]\ncache = "/c"\n[endpoint]'],
  'state.transition': ['root = "/srv/ghostlight"', 'root = "/s"\ntransition = "migrate"'],
  'state.irreversible_cut': ['root = "/srv/ghostlight"', 'root = "/s"\nirreversible_cut = "permit"'],
  'state.backup_root': ['root = "/srv/ghostlight"', 'root = "/s"\nbackup_root = "/b"'],
  'state.group': ['root = "/srv/ghostlight"', 'root = "/s"\ngroup = "g"'],
  'workload.driver': ['[endpoint]', '[workload]\ndriver = "systemd"\n[endpoint]'],
  'workload.unit_namespace': ['[endpoint]', '[workload]\nunit_namespace = "idunn-"\n[endpoint]'],
  'workload.release_root': ['[endpoint]', '[workload]\nrelease_root = "/r"\n[endpoint]'],
  'workload.current_link': ['[endpoint]', '[workload]\ncurrent_link = "/r/current"\n[endpoint]'],
  'workload.carry': ['[endpoint]', '[workload.carry]\nsource = "/c"\ndestination = "config.json"\n[endpoint]'],
  'workload.user': ['[endpoint]', '[workload]\nuser = "app"\n[endpoint]'],
  'workload.group': ['[endpoint]', '[workload]\ngroup = "app"\n[endpoint]'],
  'workload.network': ['[endpoint]', '[workload]\nnetwork = "private"\n[endpoint]'],
  'workload.mount.*': ['[endpoint]', '[[workload.mount]]\nsource = "/a"\ndestination = "/b"\n[endpoint]'],
  'workload.devices.*': ['[endpoint]', '[workload]\ndevices = ["/dev/dri"]\n[endpoint]'],
  'external_capability.*': [
    '[endpoint]',
    '[[external_capability]]\nname = "c"\nschema = "c/1"\nendpoint = "e"\n[endpoint]',
  ],
  'route.driver': ['[route]', '[route]\ndriver = "nginx-stream"'],
  'route.protocol': ['[route]', '[route]\nprotocol = "tcp"'],
  'route.configuration': ['[route]', '[route]\nconfiguration = "/etc/nginx/conf.d/a.conf"'],
  'route.firewall': ['[route]', '[route]\nfirewall = true'],
  trust: ['[endpoint]', '[trust]\nanchors = "/a"\n[endpoint]'],
  'limits.cpu_millis': ['[limits]', '[limits]\ncpu_millis = 500'],
};

for (const { at, feature } of unsupportedInBinding) {
  test(`asked for and not acted on yet, so refused by name: ${at.join('.')}`, () => {
    const swap = swaps[at.join('.')];
    assert.ok(swap !== undefined, 'no example of the feature');
    const refused = refusalOf(parseBinding(change(example, ...swap), 'binding.toml'));
    // Only that: the rest of its table is vocabulary, neither unknown nor malformed.
    assert.equal(refused.code, 'feature-not-yet-supported', refused.reason);
    assert.ok(faultsOf(refused).some(({ message }) => message.startsWith(feature)));
  });
}
