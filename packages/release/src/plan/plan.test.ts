import assert from 'node:assert/strict';
import { test } from 'node:test';
import { absent, digestBytes, type Outcome, seen, unknown } from '@idunn/kernel';
import { faultsOf, type Place } from '../configuration/fault.ts';
import type { Plan } from '../model/plan.ts';
import {
  binding,
  change,
  docsExample,
  factsFor,
  fleetOf,
  hostFacts,
  recipe,
  refusalOf,
  valueOf,
} from '../testing/documents.ts';
import { compilePlan, planDigest } from './compile.ts';
import type { HostFacts } from './host-facts.ts';

const recipeText = docsExample('recipe');
const bindingText = docsExample('binding');

function compile(
  more: { recipe?: string; binding?: string; host?: Partial<HostFacts>; machine?: string; others?: string[] } = {},
): Outcome<Plan> {
  const asked = recipe(more.recipe ?? recipeText);
  const bound = binding(more.binding ?? bindingText);
  return compilePlan({
    fleet: fleetOf(bound, ...(more.others ?? []).map((text) => binding(text))),
    machine: more.machine ?? 'local',
    binding: bound,
    recipe: asked,
    facts: factsFor(asked),
    hostFacts: hostFacts(more.host),
  });
}

/** Each fault as `code FILE:LINE` (against the other line), then its message; lines as they are written. */
function faults(outcome: Outcome<Plan>): string[] {
  const at = ({ file, text }: Place): string => `${file}: ${text.trim().slice(0, 30)}`;
  return faultsOf(refusalOf(outcome)).flatMap((fault) => [
    `${fault.code} ${at(fault)}${fault.related === undefined ? '' : ` <> ${at(fault.related)}`}`,
    `  ${fault.message}`,
  ]);
}

test('I11: each request that the binding does not admit is a fault that names both lines', () => {
  const bare = bindingText
    .replace('[interpreter.node]\npath = "/usr/bin/node"\n', '')
    .replace('[runner.build]', '[runner.other]')
    .replace(/\[environment\][\s\S]*?\n\n/, '')
    .replace(/\[operator_slot\][\s\S]*?\n\n/, '')
    .replace(/\[secret[\s\S]*?\n\n/, '')
    .replace(/\[state\][\s\S]*?\n\n/, '')
    .replace(/\[endpoint\][\s\S]*?\n\n/, '')
    .replace(/\[route\][\s\S]*?\n\n/, '')
    .replace('capabilities = ["ghostlight.world"]', 'capabilities = []')
    .replace('memory_bytes = 268_435_456', 'memory_bytes = 1_024');
  const top = 'binding.toml: schema = "idunn.binding/v1"';
  assert.deepEqual(faults(compile({ binding: bare })), [
    'not-admitted recipe.toml: [runner.build] <> binding.toml: [runner.other]',
    '  the binding admits no runner profile "build"',
    'not-admitted recipe.toml: name = "ghostlight.world" <> binding.toml: capabilities = []',
    '  the binding does not admit the capability "ghostlight.world"',
    `not-admitted recipe.toml: interpreter = "node" <> ${top}`,
    `  the binding admits no interpreter "node"`,
    `not-admitted recipe.toml: required_environment = ["LOG_L <> ${top}`,
    `  [environment] of the binding gives no value to LOG_LEVEL`,
    `not-admitted recipe.toml: args = ["--port", { slot = "en <> ${top}`,
    `  slot "operator:world" needs operator_slot.world in the binding`,
    `not-admitted recipe.toml: secrets = ["api-key"] <> ${top}`,
    `  the binding has no secret "api-key"`,
    `not-admitted recipe.toml: [state] <> ${top}`,
    `  the recipe asks for state, the binding has no [state]`,
    `not-admitted recipe.toml: protocol = "http" <> ${top}`,
    `  the recipe asks for endpoint, the binding has no [endpoint]`,
    `not-admitted recipe.toml: routed = true <> ${top}`,
    `  the recipe asks for route, the binding has no [route]`,
    'not-admitted recipe.toml: memory_bytes = 67_108_864 <> binding.toml: memory_bytes = 1_024',
    '  the recipe needs 67108864, limits.memory_bytes grants 1024',
  ]);
});

test('I11: a program or build variable that the admitted profile does not grant', () => {
  const asked = recipeText
    .replace('programs = ["node"]', 'programs = ["node", "npm"]')
    .replace('"BUILD_MODE"', '"TOKEN"');
  assert.deepEqual(faults(compile({ recipe: asked })), [
    'not-admitted recipe.toml: programs = ["node", "npm"] <> binding.toml: allowed_programs = { node = "/',
    '  runner.build.allowed_programs does not admit "npm"',
    'not-admitted recipe.toml: environment = ["TOKEN"] <> binding.toml: environment = { BUILD_MODE = "',
    '  runner.build.environment gives no value to TOKEN',
  ]);
});

test('I11: names of the object prototype are admitted by nobody', () => {
  const asked = recipeText
    .replace('interpreter = "node"', 'interpreter = "toString"')
    .replace('"LOG_LEVEL"', '"hasOwnProperty"')
    .replace('programs = ["node"]', 'programs = ["node", "valueOf"]');
  assert.deepEqual(
    faultsOf(refusalOf(compile({ recipe: asked }))).map(({ message }) => message),
    [
      'runner.build.allowed_programs does not admit "valueOf"',
      'the binding admits no interpreter "toString"',
      '[environment] of the binding gives no value to hasOwnProperty',
    ],
  );
});

test('a grant that was not asked for does nothing, but state, endpoint and route never vanish silently', () => {
  const spare = `${bindingText}\n[secret.spare]\nfile = "/spare"\n[runner.spare]\nkind = "host-native"\n`;
  const plan = valueOf(
    compile({ binding: spare, host: { secrets: { ...hostFacts().secrets, '/spare': seen('private') } } }),
  );
  assert.deepEqual(Object.keys(plan.runners), ['build']);
  assert.deepEqual(
    plan.launch.secrets.map(({ name }) => name),
    ['api-key'],
  );

  const stateless = recipeText
    .replace(/\[state\][\s\S]*?\n\n\[\[state.store\]\][\s\S]*?\n\n/, '')
    .replace('args = ["--port", { slot = "endpoint-port" }, "--world", { slot = "operator:world" }]\n', '')
    .replace('protocol = "http"\nrouted = true\n', '');
  assert.deepEqual(
    faultsOf(refusalOf(compile({ recipe: stateless }))).map(({ code, field }) => `${code} ${field}`),
    ['not-requested state', 'not-requested endpoint', 'not-requested route'],
  );
});

test('F20: the state id is the target, whatever the release, and the binding can fix another one', () => {
  assert.equal(valueOf(compile()).state?.stateId, 'ghostlight');
  const fixed = change(bindingText, 'root = "/srv/ghostlight"', 'root = "/srv/ghostlight"\nid = "world-1"');
  assert.equal(valueOf(compile({ binding: fixed })).state?.stateId, 'world-1');
});

test('several SQLite stores are planned in the order of the recipe', () => {
  const asked = `${recipeText}\n[[state.store]]\nid = "index"\nkind = "sqlite"\npath = "index/search.db"\n`;
  assert.deepEqual(
    valueOf(compile({ recipe: asked })).state?.stores.map(({ id }) => id),
    ['journal', 'index'],
  );
});

const almanac = bindingText
  .replace('target = "ghostlight"', 'target = "almanac"')
  .replace('root = "/srv/ghostlight"', 'root = "/srv/almanac"');

for (const [how, own, other] of [
  ['is the same directory as', ['7:1', '7:0'], ['7:1', '7:0']],
  ['is inside', ['7:2', '7:1', '7:0'], ['7:1', '7:0']],
  ['holds', ['7:1', '7:0'], ['7:1/new', '7:1', '7:0']],
] as const) {
  test(`F20, I1: a state root that ${how} another target's is refused, whatever its name`, () => {
    const directories = { ...hostFacts().directories, '/srv/ghostlight': seen(own), '/srv/almanac': seen(other) };
    assert.deepEqual(faults(compile({ others: [almanac], host: { directories } })), [
      `state-roots-overlap binding.toml: root = "/srv/ghostlight" <> binding.toml: root = "/srv/almanac"`,
      `  state.root /srv/ghostlight ${how} the state root /srv/almanac of target "almanac"`,
    ]);
  });
}

const stewarded = bindingText.replace(
  '[endpoint]',
  '[steward]\nuser = "steward"\nstore = "/steward/f.json"\n[endpoint]',
);
const withSteward = { ...hostFacts().directories, '/steward': seen(['8:1', '/']) };

test('I8: a steward is frozen into the plan; root, a stranger and an unknown account are refused', () => {
  const compiled = (users: ReturnType<typeof hostFacts>['users']) =>
    compile({ binding: stewarded, host: { directories: withSteward, users } });
  assert.deepEqual(valueOf(compiled({ steward: seen(1_234) })).steward, { user: 'steward', store: '/steward/f.json' });
  for (const account of [seen(0), absent, unknown('no answer')]) {
    assert.equal(refusalOf(compiled({ steward: account })).code, 'steward-unusable');
  }
  assert.equal(valueOf(compile()).steward, null);
});

for (const [what, lineage] of [
  ['is', ['/var/a', '/']],
  ['lies inside', ['8:2', '/var/c', '/']],
  ['holds', ['/']],
  ['is a state root, which the workload writes', ['/srv/ghostlight', '/']],
] as const) {
  test(`I8: a steward whose directory ${what} one of the authority or a workload is refused`, () => {
    const directories = { ...withSteward, '/steward': seen(lineage) };
    const refused = refusalOf(compile({ binding: stewarded, host: { directories } }));
    assert.ok(
      faultsOf(refused).every(({ code }) => code === 'steward-store-overlaps'),
      refused.reason,
    );
  });
}

test('I8: two stewards never share a directory', () => {
  const other = stewarded
    .replace('target = "ghostlight"', 'target = "almanac"')
    .replace('/srv/ghostlight', '/srv/almanac');
  const refused = refusalOf(compile({ binding: stewarded, others: [other], host: { directories: withSteward } }));
  assert.equal(refused.code, 'steward-store-overlaps');
});

test("I10: another target's root that cannot be looked at counts as overlapping", () => {
  const directories = { ...hostFacts().directories, '/srv/almanac': unknown('permission denied') };
  assert.equal(refusalOf(compile({ others: [almanac], host: { directories } })).code, 'state-roots-overlap');
});

test("a state root apart from Idunn's own directories; beside the fleet's files it may be", () => {
  const inside = { ...hostFacts().directories, '/srv/ghostlight': seen(['/var/c/x', '/var/c', '/']) };
  assert.match(
    faults(compile({ host: { directories: inside } })).join(),
    /is inside Idunn's own releases directory \/var\/c/,
  );
  const around = {
    ...hostFacts().directories,
    '/srv/ghostlight': seen(['/var', '/']),
    '/var/a': seen(['/var/a', '/var', '/']),
  };
  assert.match(faults(compile({ host: { directories: around } })).join(), /holds Idunn's own state directory/);
  const beside = { ...hostFacts().directories, '/srv/ghostlight': seen(['/fleet/data', '/fleet', '/']) };
  assert.ok(compile({ host: { directories: beside } }).ok);
});

test('what the machine contradicts is a fault at the line of the binding', () => {
  const host: Partial<HostFacts> = {
    interpreters: { '/usr/bin/node': absent },
    programs: { '/usr/bin/node': seen('not-executable') },
    secrets: { '/etc/idunn/secrets/ghostlight-api-key': seen('readable-by-others') },
    signer: absent,
  };
  assert.deepEqual(
    faultsOf(refusalOf(compile({ host, machine: 'elsewhere' }))).map(
      ({ code, field, message }) => `${code} ${field}: ${message}`,
    ),
    [
      'node-mismatch node: node: the target belongs on "local", this machine is "elsewhere"',
      'host-program-missing interpreter.node.path: /usr/bin/node does not exist',
      'host-program-missing runner.build.allowed_programs.node: /usr/bin/node is not an executable file',
      'secret-unusable secret.api-key.file: /etc/idunn/secrets/ghostlight-api-key can be read by others',
      'signer-missing target: target "ghostlight" has no enrolled signer',
    ],
  );
});

test('recipe and binding are for the same target, and the signer is the enrolled one', () => {
  assert.equal(
    refusalOf(compile({ recipe: change(recipeText, 'target = "ghostlight"', 'target = "other"') })).code,
    'target-mismatch',
  );
  const other = Buffer.alloc(32, 1).toString('base64');
  const signed = `${bindingText}\n[signer]\npublic_key = "${other}"\n`;
  assert.match(faults(compile({ binding: signed })).join(), /signer.public_key: it is not the public half/);
});

test('an endpoint without a range of its own has that of the fleet', () => {
  const open = change(bindingText, 'from_port = 21_000\nto_port = 21_009\n', '');
  assert.deepEqual(valueOf(compile({ binding: open })).launch.endpoint, {
    host: '127.0.0.1',
    protocol: 'http',
    fromPort: 20_000,
    toPort: 20_999,
  });
});

test('the plan changes with any byte of the binding and with the interpreter', () => {
  const plan = planDigest(valueOf(compile()));
  assert.notEqual(planDigest(valueOf(compile({ binding: `${bindingText}# why\n` }))), plan);
  const interpreters = { '/usr/bin/node': seen(digestBytes('another node')) };
  assert.notEqual(planDigest(valueOf(compile({ host: { interpreters } }))), plan);
});

const sandboxed = bindingText.replace(
  'kind = "host-native"',
  'kind = "bubblewrap"\nmount = [{ source = "/opt/tools" }]\nmemory_bytes = 1_000\ncpu_millis = 500',
);

test('a sandbox has exactly the mounts and limits of its binding, and no network unless both sides say so', () => {
  const host = { mounts: { '/opt/tools': seen(['/opt/tools', '/opt', '/']) } };
  const { runners } = valueOf(compile({ binding: sandboxed, host }));
  assert.deepEqual(runners['build'], {
    kind: 'bubblewrap',
    allowedPrograms: { node: '/usr/bin/node' },
    environment: { BUILD_MODE: 'release', PATH: '/usr/bin:/bin' },
    lockfile: null,
    mounts: [{ source: '/opt/tools', destination: '/opt/tools' }],
    limits: { memoryBytes: 1_000, processes: null, cpuMillis: 500 },
    network: null,
  });
});

test('I11: a mount may not lie in what the authority keeps or in a state, and has to be there', () => {
  const refused = (lineage: readonly string[] | null): string[] =>
    faults(
      compile({ binding: sandboxed, host: { mounts: { '/opt/tools': lineage === null ? absent : seen(lineage) } } }),
    ).filter((line) => line.startsWith('  '));
  assert.deepEqual(refused(null), ['  /opt/tools does not exist']);
  const inside = (what: string): string => `  /opt/tools is inside ${what}`;
  assert.deepEqual(refused(['/opt/tools', '/var/a', '/']), [inside("Idunn's own state directory /var/a")]);
  assert.deepEqual(refused(['/fleet/bindings', '/fleet', '/']), [inside("Idunn's fleet directory /fleet")]);
  assert.deepEqual(refused(['/srv/ghostlight', '/']), [
    '  /opt/tools is the same directory as the state root of target "ghostlight" /srv/ghostlight',
  ]);
  // What holds one of them is admitted: the runner covers it.
  assert.ok(compile({ binding: sandboxed, host: { mounts: { '/opt/tools': seen(['/']) } } }).ok);
});
