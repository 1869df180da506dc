import assert from 'node:assert/strict';
import { test } from 'node:test';
import { absent, type Outcome, seen, unknown } from '@idunn/kernel';
import { faultsOf } from '../configuration/fault.ts';
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
import { compilePlan } from './compile.ts';
import type { HostFacts } from './host-facts.ts';

const plain = docsExample('binding');
const withUsers = change(plain, '[endpoint]', '[workload]\nuser = "ghost"\nalternate_user = "ghost-2"\n\n[endpoint]');
const accounts = {
  ghost: seen({ uid: 901, gid: 801 }),
  'ghost-2': seen({ uid: 902, gid: 801 }),
  almanac: seen({ uid: 903, gid: 803 }),
};

function compile(text: string, host: Partial<HostFacts> = {}, ...others: readonly string[]): Outcome<Plan> {
  const asked = recipe();
  const bound = binding(text);
  return compilePlan({
    fleet: fleetOf(bound, ...others.map((other) => binding(other))),
    machine: 'local',
    binding: bound,
    recipe: asked,
    facts: factsFor(asked),
    hostFacts: hostFacts({ uid: 0, accounts, ...host }),
  });
}

const messages = (outcome: Outcome<Plan>): string[] => faultsOf(refusalOf(outcome)).map(({ message }) => message);

test('users and group are in the plan by name and number; without them nothing is', () => {
  const { launch } = valueOf(compile(withUsers));
  assert.deepEqual(launch.identity, {
    users: [
      { name: 'ghost', uid: 901 },
      { name: 'ghost-2', uid: 902 },
    ],
    group: { name: 'ghost', gid: 801 },
  });
  assert.equal('identity' in valueOf(compile(plain)).launch, false);
  const named = valueOf(
    compile(change(withUsers, 'user = "ghost"', 'user = "ghost"\ngroup = "ghosts"'), {
      groups: { ghosts: seen({ gid: 850 }) },
    }),
  );
  assert.deepEqual(named.launch.identity?.group, { name: 'ghosts', gid: 850 });
});

test('I11: a user that is not there, is root, or cannot be looked up is refused', () => {
  for (const [ghost, said] of [
    [absent, /this machine has no user ghost$/],
    [seen({ uid: 0, gid: 0 }), /ghost is root itself/],
    [unknown('no answer'), /could not be looked up: no answer/],
    [seen({ uid: 902, gid: 801 }), /it is the user that it takes turns with/],
  ] as const) {
    const refused = compile(withUsers, { accounts: { ...accounts, ghost } });
    assert.match(messages(refused).join(), said);
    assert.equal(refusalOf(refused).code, 'workload-user-unusable');
  }
});

test('I1, I2: no two targets have one user, whatever its names', () => {
  const theirs = change(
    change(plain, 'target = "ghostlight"', 'target = "almanac"'),
    '/srv/ghostlight',
    '/srv/almanac',
  );
  const other = change(theirs, '[endpoint]', '[workload]\nuser = "almanac"\n\n[endpoint]');
  const same = { ...accounts, almanac: seen({ uid: 902, gid: 803 }) };
  assert.deepEqual(messages(compile(withUsers, { accounts: same }, other)), [
    'workload.alternate_user: user 902 is that of target "almanac"',
  ]);
  assert.ok(compile(withUsers, {}, other).ok);
});

test('I2: a workload is never the user that reads the repositories', () => {
  const reads = (readers: HostFacts['accounts']) => compile(withUsers, { accounts: { ...accounts, ...readers } });
  const ghost = seen({ uid: 901, gid: 801 });
  const told = ['workload.user: ghost reads the repositories'];
  assert.deepEqual(messages(reads({ 'idunn-reader': ghost, nobody: seen({ uid: 65_534, gid: 65_534 }) })), told);
  assert.deepEqual(messages(reads({ 'idunn-reader': absent, nobody: ghost })), told);
  // The first that there is reads; what comes behind it is free.
  assert.ok(reads({ 'idunn-reader': seen({ uid: 950, gid: 950 }), nobody: ghost }).ok);
});

test('only root runs programs as others', () => {
  assert.match(messages(compile(withUsers, { uid: 1_000 })).join(), /only root starts programs as ghost/);
});

test('a state group is an exact name and number, and belongs to a user', () => {
  const grouped = (text: string) => change(text, '[state]', '[state]\ngroup = { name = "data", gid = 700 }');
  const groups = (gid: number) => ({ groups: { data: seen({ gid }) } });
  assert.deepEqual(valueOf(compile(grouped(withUsers), groups(700))).state?.group, { name: 'data', gid: 700 });
  const moved = compile(grouped(withUsers), groups(701));
  assert.equal(refusalOf(moved).code, 'state-group-unusable');
  assert.match(messages(moved).join(), /the group data has number 701, not 700/);
  assert.match(messages(compile(grouped(withUsers))).join(), /this machine has no group data/);
  assert.match(messages(compile(grouped(plain), groups(700))).join(), /there is no workload.user/);
});
