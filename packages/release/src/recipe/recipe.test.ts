import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultsOf, renderFaults } from '../configuration/fault.ts';
import { change, docsExample, faultLines, recipe, refusalOf, valueOf } from '../testing/documents.ts';
import { parseRecipe } from './parse.ts';
import { unsupportedInRecipe } from './unsupported.ts';

const example = docsExample('recipe');
const faults = (text: string): string[] => faultLines(parseRecipe(text, 'recipe.toml'));

test('the example of the docs is a valid recipe', () => {
  const parsed = recipe(example).recipe;
  assert.equal(parsed.target, 'ghostlight');
  assert.deepEqual(parsed.step[0]?.argv, ['node', 'scripts/build.js', '--out', 'dist']);
  assert.equal(parsed.step[1]?.timeout_ms, 600_000);
  assert.equal(parsed.external_input[0]?.sha256.slice(0, 9), 'sha256:9f');
});

test('all faults come at once, each with its line, and faults of one table do not hide the checks of another', () => {
  const text = [
    'schema = "idunn.recipe/v2"',
    'target = "Ghost Light"',
    'shell = "make"',
    '',
    '[[step]]',
    'id = "one"',
    'profile = "nowhere"',
    'argv = ["node"]',
    'timeout = 3',
    '[[artifact]]',
    'id = "server"',
    'path = "../outside"',
    'kind = "directory"',
    '[service]',
    'artifact = "other"',
    'args = [{ slot = "host-path:/etc" }]',
    '[state]',
    'schema = "s/1"',
    '[[state.store]]',
    'id = "a"',
    'kind = "sqlite"',
    'path = "same.db"',
    '[[state.store]]',
    'id = "b"',
    'kind = "postgres"',
    'path = "same.db"',
  ].join('\n');
  assert.deepEqual(faults(text), [
    '3:1 unknown-field unknown field shell',
    '1:1 invalid-value schema: invalid input: expected "idunn.recipe/v1"',
    '2:1 invalid-value target: a target has 1 to 63 lower-case letters, digits and inner dashes',
    '9:1 unknown-field unknown field step[0].timeout',
    '12:1 invalid-value artifact[0].path: ' +
      'a relative path that stays inside, without "..", ".", // or a slash at its end',
    '16:11 invalid-value service.args[0].slot: a slot is state-root, state-path:ID, endpoint-host, endpoint-port, ' +
      'activation-directory, artifact:ID, operator:ID',
    '25:1 feature-not-yet-supported stores in PostgreSQL: not yet supported',
    '26:1 duplicate-name path "same.db" is used twice',
    '1:1 no-health-contract [health] is missing',
  ]);
});

test('F23: a recipe without a health contract is refused, whatever else is right', () => {
  const text = example.replace(/\[health\][\s\S]*?\n\n/, '');
  const refused = refusalOf(parseRecipe(text, 'recipe.toml'));
  assert.equal(refused.code, 'no-health-contract');
  assert.match(refused.remedy, /\[health\]/);
});

test('syntax errors and duplicate keys are located', () => {
  assert.deepEqual(faults('schema = "idunn.recipe/v1"\ntarget = \n'), ['2:10 toml-syntax invalid value']);
  assert.deepEqual(faults('target = "a"\ntarget = "b"\n'), [
    '2:1 toml-syntax trying to redefine an already defined table or value',
  ]);
  assert.deepEqual(faults('__proto__ = 1\n'), ['1:1 toml-syntax document contains an unsafe property']);
  assert.equal(faults(`# ${'x'.repeat(300_000)}`).length, 1);
});

test('faults are rendered with their line and a mark under the column', () => {
  const text = change(example, 'profile = "build"', 'profile = "bulid"');
  const outcome = parseRecipe(text, 'deployment/idunn/recipe.toml');
  assert.equal(
    renderFaults(faultsOf(refusalOf(outcome))),
    [
      'deployment/idunn/recipe.toml:16:1: ' +
        'step "compile" names the profile "bulid", which the recipe does not request [undefined-reference]',
      '   16 | profile = "bulid"',
      '      | ^',
    ].join('\n'),
  );
});

test('a rendered line cannot move the cursor of a terminal', () => {
  const outcome = parseRecipe('target = "a\u001b[2J"\n', 'recipe.toml');
  assert.ok(!renderFaults(faultsOf(refusalOf(outcome))).includes('\u001b'));
});

test('I11: a step starts programs by name only, and only those that its profile requests', () => {
  assert.match(faults(change(example, 'programs = ["node"]', 'programs = ["/bin/sh"]')).join('\n'), /without a slash/);
  const sh = faults(change(example, 'argv = ["node", "scripts/build.js"', 'argv = ["sh", "scripts/build.js"'));
  assert.deepEqual(sh, [
    '17:9 undefined-reference step "compile" starts "sh", which runner.build.programs does not request',
  ]);
});

test('I11: an input is https without credentials, an environment name is never one of ours', () => {
  for (const url of ['http://a.example/x', 'https://user:pass@a.example/x', 'file:///etc/passwd']) {
    assert.match(faults(change(example, 'https://downloads.example.org/world-map-7.json', url)).join(), /an https URL/);
  }
  assert.match(faults(change(example, '"LOG_LEVEL"', '"IDUNN_ACTIVATION"')).join(), /belong to Idunn/);
});

const asks: Readonly<Record<string, string>> = {
  static_release: '[static_release]\nartifact = "server"\n',
  'runner.*.network': '[runner.net]\nprograms = ["node"]\nnetwork = "registry"\n',
  'migration.*': '[[migration]]\nartifact = "server"\npath = "up.js"\nfrom = ["ghostlight/1"]\nto = "ghostlight/2"\n',
  'dependency.*': '[[dependency]]\nkind = "required"\ncapability = "clock"\nschema = "clock/1"\n',
  ordering: '[ordering]\nafter = ["almanac"]\n',
};
const swaps: Readonly<Record<string, readonly [string, string]>> = {
  'service.protocol': ['protocol = "http"', 'protocol = "tcp"'],
  'state.store.*.kind': ['kind = "sqlite"', 'kind = "postgres"'],
  'conflicts.*': ['target = "ghostlight"', 'target = "ghostlight"\nconflicts = ["almanac"]'],
  'capacity.cpu_millis': ['memory_bytes = 67_108_864', 'cpu_millis = 500'],
  'capacity.disk_bytes': ['memory_bytes = 67_108_864', 'disk_bytes = 500'],
};

for (const { at, feature } of unsupportedInRecipe) {
  test(`asked for and not acted on yet, so refused by name: ${at.join('.')}`, () => {
    const swap = swaps[at.join('.')];
    const addition = asks[at.join('.')];
    assert.ok(swap !== undefined || addition !== undefined, 'no example of the feature');
    const text = swap === undefined ? `${example}\n${addition}` : change(example, ...swap);
    const found = faultsOf(refusalOf(parseRecipe(text, 'recipe.toml')));
    const named = found.filter(
      ({ code, message }) => code === 'feature-not-yet-supported' && message.startsWith(feature),
    );
    assert.equal(named.length, 1);
    // It is the vocabulary all the same: nothing of it is unknown or malformed.
    assert.deepEqual(
      found.filter(({ code }) => code !== 'feature-not-yet-supported').map(({ code, field }) => `${code} ${field}`),
      at[0] === 'static_release' ? ['invalid-value static_release'] : [],
    );
  });
}

test('all six kinds of dependency are vocabulary', () => {
  for (const kind of ['bootstrap', 'required', 'optional', 'shared-infrastructure', 'private', 'external']) {
    const text = `${example}\n[[dependency]]\nkind = "${kind}"\ncapability = "c"\nschema = "c/1"\nprovider = "odin"\n`;
    assert.equal(refusalOf(parseRecipe(text, 'r')).code, 'feature-not-yet-supported');
  }
});

test('a profile with a network names the lockfile that pins what it fetches', () => {
  const asked = change(example, 'programs = ["node"]', 'programs = ["node"]\nnetwork = "registries"');
  assert.deepEqual(faultLines(parseRecipe(asked, 'r')), [
    '4:2 missing-field runner.build.lockfile is missing: with a network, the file that pins what is fetched',
  ]);
  assert.ok(parseRecipe(change(asked, 'network =', 'lockfile = "package-lock.json"\nnetwork ='), 'r').ok);
});

test('the digest is over the exact bytes', () => {
  const one = valueOf(parseRecipe(example, 'r'));
  const other = valueOf(parseRecipe(`${example}# a comment\n`, 'r'));
  assert.deepEqual(one.recipe, other.recipe);
  assert.notEqual(one.digest, other.digest);
});
