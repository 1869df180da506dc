import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, linkSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { seen, unknown } from '@idunn/kernel';
import type { LaunchContract, StateContract } from '@idunn/release';
import { activationFiles } from '../activation-directory.ts';
import { Bench, codeOf, must } from '../testing/bench.ts';
import { logged } from '../testing/logs.ts';
import { chooseUser } from './choose.ts';
import { closeState, openState } from './door.ts';
import { type Holder, StateKeeper } from './keeper.ts';
import type { RunsAs } from './words.ts';

/** Numbers that nobody has; only root can run as them. */
const [ONE, TWO, GROUP] = [64_901, 64_902, 64_800];
const skip = process.getuid?.() !== 0;
const identity: NonNullable<LaunchContract['identity']> = {
  users: [
    { name: 'one', uid: ONE },
    { name: 'two', uid: TWO },
  ],
  group: { name: 'both', gid: GROUP },
};
const one: RunsAs = { uid: ONE, gid: GROUP, stateGid: null };
const two: RunsAs = { ...one, uid: TWO };

function bench(t: TestContext): { bench: Bench; state: StateContract } {
  const made = new Bench(t);
  chmodSync(made.root, 0o755);
  mkdirSync(made.options.roots.runtime, { mode: 0o711 });
  const root = join(made.root, 'state');
  mkdirSync(join(root, 'db'));
  writeFileSync(join(root, 'db/world.db'), '');
  mkdirSync(join(root, 'uploads/deep'), { recursive: true });
  writeFileSync(join(root, 'uploads/deep/file'), '');
  const state: StateContract = {
    stateId: 'game',
    schema: 'v1',
    accepts: ['v1'],
    root,
    stores: [
      { id: 'world', kind: 'sqlite', path: 'db/world.db' },
      { id: 'uploads', kind: 'files', path: 'uploads' },
    ],
    lease: 'rows',
    fence: 'tree-empty',
  };
  return { bench: made, state };
}

const kept = (path: string): readonly [number, number, number] => {
  const { uid, gid, mode } = statSync(path);
  return [uid, gid, mode & 0o7777];
};

test('of two users that take turns the candidate never has its incumbent’s', () => {
  const launch = { identity } as LaunchContract;
  assert.equal(chooseUser({} as LaunchContract, null, []), null);
  assert.equal(chooseUser(launch, null, [])?.uid, ONE);
  assert.equal(chooseUser(launch, null, [ONE])?.uid, TWO);
  assert.equal(chooseUser(launch, null, [TWO])?.uid, ONE);
  // One that still drains beside the incumbent.
  assert.equal(chooseUser(launch, null, [ONE, 7, TWO])?.uid, ONE);
});

test('F30: a program has its user, no group, no capability and no way to any; its directory is its own', {
  skip,
}, async (t) => {
  const { bench: made } = bench(t);
  const secrets = [{ name: 'token', file: join(made.root, 'token') }];
  const handle = await made.start(made.launch('polite', { identity, secrets }));
  const status = readFileSync(`/proc/${handle.identity.pid}/status`, 'utf8');
  const line = (name: string): string => new RegExp(`^${name}:[ \\t]*(.*?)[ \\t]*$`, 'm').exec(status)?.[1] ?? '';
  assert.equal(line('Uid'), Array(4).fill(ONE).join('\t'));
  assert.equal(line('Gid'), Array(4).fill(GROUP).join('\t'));
  assert.equal(line('Groups'), '');
  for (const name of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb']) assert.equal(Number(line(name)), 0, name);
  assert.equal(line('NoNewPrivs'), '1');
  const files = activationFiles(made.options.roots.runtime, handle.activation);
  assert.deepEqual(kept(files.directory), [ONE, GROUP, 0o700]);
  for (const file of [files.keys.program.activation, files.keys.program.signer, join(files.secrets, 'token')]) {
    assert.deepEqual(kept(file), [ONE, GROUP, 0o600], file);
  }
  assert.deepEqual(kept(files.own), [0, 0, 0o700]);
  assert.deepEqual(await made.driver.runsAs(handle.activation), { uid: ONE, separation: 'user-per-workload' });
  const next = await made.start(made.launch('polite', { identity }));
  assert.equal(statSync(`/proc/${next.identity.pid}`).uid, TWO);
  await logged(made.driver.logPath('game', next.activation), /up/);
});

test('F15: retiring never follows what a program put in the place of its files', { skip }, async (t) => {
  const { bench: made } = bench(t);
  const handle = await made.start(made.sleep({ identity }));
  const files = activationFiles(made.options.roots.runtime, handle.activation);
  const elsewhere = join(made.root, 'elsewhere');
  mkdirSync(elsewhere);
  writeFileSync(join(elsewhere, 'token'), 'kept');
  execFileSync('rmdir', [files.secrets]);
  symlinkSync(elsewhere, files.secrets);
  await made.driver.stop(handle, 0);
  await made.driver.retire('game', handle.activation);
  assert.equal(readFileSync(join(elsewhere, 'token'), 'utf8'), 'kept');
});

test('a directory that the user cannot pass is named before anything starts', { skip }, async (t) => {
  const { bench: made } = bench(t);
  chmodSync(join(made.root, 'release'), 0o700);
  const refused = await made.driver.mint(made.mintRequest(made.launch('polite', { identity })));
  assert.equal(codeOf(refused), 'workload-path-closed');
  assert.match(refused.ok ? '' : refused.refusal.reason, /cannot pass through .*\/release on the way/);
});

test('I1: a state is root’s, then its user’s, then the next one’s, then root’s; every step may be repeated', {
  skip,
}, async (t) => {
  const { state } = bench(t);
  const [root, db, world] = [state.root, join(state.root, 'db'), join(state.root, 'db/world.db')];
  const [uploads, file] = [join(state.root, 'uploads'), join(state.root, 'uploads/deep/file')];
  for (const runs of [one, two]) {
    for (let again = 0; again < 2; again++) {
      must(await closeState(state, runs));
      for (const directory of [root, db]) assert.deepEqual(kept(directory), [0, GROUP, 0o2750]);
      assert.deepEqual(kept(world), [0, GROUP, 0o640]);
      assert.deepEqual(kept(uploads), [0, GROUP, 0o700]);
    }
    for (let again = 0; again < 2; again++) {
      must(await openState(state, runs));
      for (const directory of [root, db, uploads]) assert.deepEqual(kept(directory), [runs.uid, GROUP, 0o2750]);
      assert.deepEqual(kept(world), [runs.uid, GROUP, 0o640]);
      assert.equal(kept(file)[0], runs.uid);
    }
  }
});

test('I1: a state of links, or of files with several names, is never given', { skip }, async (t) => {
  for (const spoil of [
    (root: string) => linkSync(join(root, 'db/world.db'), join(root, 'db/second')),
    (root: string) => symlinkSync('/etc/passwd', join(root, 'db/world.db-wal')),
    (root: string) => linkSync(join(root, 'uploads/deep/file'), join(root, 'uploads/second')),
  ]) {
    const { state } = bench(t);
    spoil(state.root);
    assert.equal(codeOf(await openState(state, one)), 'state-not-opened');
    assert.equal(statSync(state.root).uid, 0, 'what is half given is root’s');
  }
});

test('I1: a state closes when its activation ends, unless the row names another; unknown is no other', {
  skip,
}, async (t) => {
  const { state } = bench(t);
  let holder: Holder = seen('act-a');
  const keeper = new StateKeeper({
    read: async () =>
      holder.kind === 'seen'
        ? seen({
            world: {
              stateId: 'game',
              epoch: 1,
              activation: holder.value,
              release: null,
              stateSchema: 'v1',
              nonce: null,
            },
          })
        : holder,
  });
  const opening = { activation: 'act-a', state, runs: one };
  const owner = (): number => statSync(state.root).uid;
  must(await keeper.open(opening));
  holder = seen('act-b');
  assert.equal(must(await keeper.end(opening)), 'kept');
  assert.equal(owner(), ONE);
  must(await keeper.settle({ ...opening, activation: 'act-c' }, async () => true));
  assert.equal(owner(), ONE, 'I7: a candidate takes nothing from a living incumbent');
  must(await keeper.settle({ ...opening, activation: 'act-c' }, async () => false));
  assert.equal(owner(), 0);
  must(await keeper.open(opening));
  holder = unknown('damaged');
  assert.equal(must(await keeper.end(opening)), 'closed');
  assert.equal(owner(), 0);
});
