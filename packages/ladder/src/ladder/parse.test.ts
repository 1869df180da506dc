import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EXAMPLE_LADDER } from './example.ts';
import type { Fault } from './fault.ts';
import type { Ladder } from './model.ts';
import { parseLadder } from './parse.ts';

function read(text: string): Ladder {
  const outcome = parseLadder(text, 'ladder.yaml');
  assert.ok(outcome.ok, JSON.stringify(outcome));
  return outcome.value;
}

/** Every fault as `line:column code field: message`. */
function faults(text: string): readonly string[] {
  const outcome = parseLadder(text, 'ladder.yaml');
  assert.ok(!outcome.ok, 'the ladder was read');
  const { faults: found } = outcome.refusal.detail as unknown as { faults: readonly Fault[] };
  for (const { file, text: line, line: number } of found) {
    assert.equal(file, 'ladder.yaml');
    if (line !== '') assert.equal(line, text.split('\n')[number - 1]);
  }
  return found.map(({ line, column, code, field, message }) => `${line}:${column} ${code} ${field}: ${message}`);
}

const HEAD = 'apiVersion: idunn.ladder/v1\nslots:\n';
const slot = (name: string, more = 'role: test, guarded: false'): string =>
  `  - {name: ${name}, namespace: ns-${name}, ${more}}\n`;

test('the shipped example is a ladder, and says what each field carries', () => {
  const { meta, slots } = read(EXAMPLE_LADDER);
  assert.deepEqual(meta, { customer: 'Example Orchards', owner: 'platform-team@example.test' });
  assert.deepEqual(
    slots.map(({ name, role, guarded, promotes_to: to }) => [name, role, guarded, to]),
    [
      ['dev', 'development', false, ['qa-a', 'qa-b']],
      ['qa-a', 'test', false, ['preprod']],
      ['qa-b', 'test', false, ['preprod']],
      ['preprod', 'staging', true, ['production']],
      ['production', 'production', true, []],
    ],
  );
  assert.deepEqual(slots[2]?.meta, { note: 'the load tests run here' });
  assert.equal(slots[2]?.declaredAt?.line, 18);
});

test('JSON is read as it is', () => {
  const json = {
    apiVersion: 'idunn.ladder/v1',
    slots: [
      { name: 'a', namespace: 'n', role: 'LIVE', guarded: true, hosts: ['Bücher.Example.'], meta: { n: [1, null] } },
    ],
  };
  for (const indent of [undefined, 2, '\t']) {
    const [first] = read(JSON.stringify(json, null, indent)).slots;
    assert.deepEqual(
      [first?.role, first?.hosts, first?.meta, first?.promotes_to],
      ['production', ['xn--bcher-kva.example'], { n: [1, null] }, []],
    );
  }
});

test('a role is what was declared, in any spelling, and never what the name suggests', () => {
  const spellings: Readonly<Record<string, readonly string[]>> = {
    development: ['development', 'dev', 'DEV'],
    test: ['test', 'testing', 'qa', 'uat', 'Qa'],
    staging: ['staging', 'stage', 'preprod', 'pre-production'],
    production: ['production', 'prod', 'live', 'Prod'],
  };
  for (const [role, all] of Object.entries(spellings)) {
    for (const spelling of all)
      assert.equal(read(HEAD + slot('prod', `role: ${spelling}, guarded: true`)).slots[0]?.role, role);
  }
  assert.equal(read(HEAD + slot('prod')).slots[0]?.guarded, false);
});

const single: readonly (readonly [what: string, text: string, fault: string])[] = [
  [
    'no version',
    'slots: []',
    '1:1 ladder-version-unknown apiVersion: apiVersion is missing; this reads idunn.ladder/v1',
  ],
  [
    'another version, and nothing else of it is read',
    'apiVersion: idunn.ladder/v2\nslots: 7\nwhat: 1',
    '1:1 ladder-version-unknown apiVersion: apiVersion "idunn.ladder/v2" is unknown; this reads idunn.ladder/v1',
  ],
  ['no slots', 'apiVersion: idunn.ladder/v1', '1:1 missing-field slots: slots must be given'],
  ['an empty list of slots', `${HEAD}  []`, '2:1 invalid-value slots: slots: a ladder has at least one slot'],
  ['no map', '- 1', '1:1 invalid-value : a ladder is a map of fields'],
  ['an empty file', '', '1:1 invalid-value : a ladder is a map of fields'],
  ['no role', HEAD + slot('a', 'guarded: false'), '3:5 missing-field slots[0].role: slots[0].role must be given'],
  ['no guarded', HEAD + slot('a', 'role: test'), '3:5 missing-field slots[0].guarded: slots[0].guarded must be given'],
  [
    'a guarded that only looks like a boolean',
    HEAD + slot('a', 'role: test, guarded: no'),
    '3:44 invalid-value slots[0].guarded: slots[0].guarded: guarded is true or false, and nothing else',
  ],
  [
    'unguarded production',
    HEAD + slot('a', 'role: live, guarded: false'),
    '3:44 production-unguarded slots[0].guarded: a has the role production and is not guarded',
  ],
  [
    'an unknown field',
    HEAD + slot('a', 'role: test, guarded: false, rank: 2'),
    '3:60 unknown-field slots[0].rank: slots[0].rank is no field of a ladder',
  ],
  [
    'a name twice',
    `${HEAD}${slot('a')}  - {name: a, namespace: b, role: test, guarded: false}`,
    '4:6 slot-ambiguous slots[1].name: a is already the name of a',
  ],
  [
    'a namespace twice',
    `${HEAD}${slot('a')}  - {name: b, namespace: ns-a, role: test, guarded: false}`,
    '4:15 slot-ambiguous slots[1].namespace: ns-a is already the namespace of a',
  ],
  [
    'a host twice, in two spellings',
    HEAD +
      slot('a', 'role: test, guarded: false, hosts: [x.test]') +
      slot('b', 'role: test, guarded: false, hosts: [X.TEST.]'),
    '4:68 slot-ambiguous slots[1].hosts[0]: x.test is already a host of a',
  ],
  [
    'a namespace that is the name of another slot',
    `${HEAD}${slot('a')}  - {name: b, namespace: a, role: test, guarded: false}`,
    '4:15 slot-ambiguous slots[1].namespace: a is already the name of a',
  ],
  [
    'a namespace that is a generation of another slot',
    `${HEAD}${slot('a')}  - {name: b, namespace: ns-a-20260228-2359, role: test, guarded: false}`,
    '4:15 slot-ambiguous slots[1].namespace: ns-a-20260228-2359 has the name of a generation of a',
  ],
  [
    'the www. of a guarded host',
    HEAD +
      slot('a', 'role: test, guarded: true, hosts: [x.test]') +
      slot('b', 'role: test, guarded: false, hosts: [www.x.test]'),
    '4:68 slot-ambiguous slots[1].hosts[0]: www.x.test is already a host of a',
  ],
  [
    'an edge to nowhere',
    HEAD + slot('a', 'role: test, guarded: false, promotes_to: [b]') + slot('c'),
    '3:74 undefined-reference slots[0].promotes_to[0]: no slot is named b; there are a, c',
  ],
  [
    'an edge to itself',
    HEAD + slot('a', 'role: test, guarded: false, promotes_to: [a]'),
    '3:60 ladder-cycle slots[0].promotes_to: code would move in a circle: a → a',
  ],
  [
    'a circle',
    HEAD + ['a', 'b', 'c'].map((n, i) => slot(n, `role: qa, guarded: true, promotes_to: [${'bcb'[i]}]`)).join(''),
    '4:57 ladder-cycle slots[1].promotes_to: code would move in a circle: b → c → b',
  ],
  ['an alias', `${HEAD}  - &a {name: *a}`, '3:15 ladder-syntax : an alias: write the value where it belongs'],
  ['a key twice', `${HEAD}${slot('a')}slots: []`, '4:1 ladder-syntax : Map keys must be unique'],
  [
    'a second document',
    `${HEAD}${slot('a')}---\n${HEAD}`,
    '4:1 ladder-syntax : Source contains multiple documents; please use YAML.parseAllDocuments()',
  ],
  ['a number that JSON lacks', `${HEAD}${slot('a')}meta: {n: .inf}`, '4:8 invalid-value meta.n: meta.n: Invalid input'],
  ['a prototype', `${HEAD}${slot('a')}meta: {__proto__: {guarded: true}}`, '4:8 ladder-syntax : __proto__ is no word'],
  [
    'a host with a port',
    HEAD + slot('a', 'role: test, guarded: false, hosts: [x.test:80]'),
    '3:68 invalid-value slots[0].hosts[0]: slots[0].hosts[0]: a host has no scheme, port, path or wildcard',
  ],
  [
    'a name too long for its generations',
    HEAD + `  - {name: ${'a'.repeat(50)}, namespace: n, role: qa, guarded: true}`,
    '3:6 invalid-value slots[0].name: slots[0].name: a slot name has at most 49 characters',
  ],
];

for (const [what, text, fault] of single) {
  test(`refused, with file, line and field: ${what}`, () => assert.deepEqual(faults(text), [fault]));
}

test('all faults are told at once, in the order of their lines, with the field they disagree with', () => {
  const second = slot('b', 'role: live, guarded: false, promotes_to: [c]');
  const text = `${HEAD}  - {name: A, namespace: n, role: boss}\n${second}  - 7\n`;
  assert.deepEqual(
    faults(text).map((line) => line.split(' ').slice(0, 3).join(' ')),
    [
      '3:5 missing-field slots[0].guarded:',
      '3:6 invalid-value slots[0].name:',
      '3:29 invalid-value slots[0].role:',
      '4:44 production-unguarded slots[1].guarded:',
      '4:74 undefined-reference slots[1].promotes_to[0]:',
      '5:5 invalid-value slots[2]:',
    ],
  );
  const outcome = parseLadder(text, 'ladder.yaml');
  assert.ok(!outcome.ok);
  assert.equal(outcome.refusal.code, 'configuration-invalid');
  assert.match(outcome.refusal.reason, /^6 faults, the first at ladder\.yaml:3:5: /);
});

test('a file that is too large or nested too deeply is refused, not a fault of ours', () => {
  assert.match(faults(' '.repeat(262_145))[0] ?? '', /larger than 262144 bytes/);
  assert.equal(faults('['.repeat(100_000)).length > 0, true);
});
