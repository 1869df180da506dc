import assert from 'node:assert/strict';
import { test } from 'node:test';
import { absent, type Evidence, ok, refusal, refused, seen, unknown } from '@idunn/kernel';
import { answerOf, countingOperations, memoryAuditing, valueOf, worldOf } from '../guard/testing/world.ts';
import * as ladder from '../index.ts';

const clearance = valueOf(await worldOf(ladder).clear({ slot: 'qa' }));
const plan = { namespace: 'orchard-qa', workload: 'deployment/web', release: 'web:2', deadlineMs: 1_000 };
const lost = refused(refusal('ladder-operation-failed', 'The connection was lost.'));

interface Script {
  readonly runs: readonly Evidence<string>[];
  readonly ends?: readonly ladder.RolloutEnd[];
  readonly lost?: readonly string[];
}

/** A cluster that plays a script, and remembers what it was set to. */
function cluster({ runs, ends = [], lost: lostFor = [] }: Script) {
  const [readings, endings, set] = [[...runs], [...ends], [] as string[]];
  const operations: ladder.ReleaseOperations = {
    ...countingOperations(),
    currentRelease: async () => readings.shift() ?? unknown('the script ended'),
    async setRelease(_, { release }) {
      set.push(release);
      return lostFor.includes(release) ? lost : ok(undefined);
    },
    async awaitRollout(at, progress) {
      progress({ workload: at.workload, updated: 1, ready: 0, wanted: 3, waitingOn: '3 pods' });
      return endings.shift() ?? { kind: 'ready' };
    },
  };
  return { operations, set };
}

const failed: ladder.RolloutEnd = { kind: 'failed', because: 'the image cannot be pulled' };

const ends: readonly (readonly [string, Script, object, readonly string[]])[] = [
  ['promoted', { runs: [seen('web:1')] }, { kind: 'promoted', from: 'web:1', to: 'web:2' }, ['web:2']],
  ['a first release', { runs: [absent] }, { kind: 'promoted', from: null, to: 'web:2' }, ['web:2']],
  [
    'rolled back',
    { runs: [seen('web:1')], ends: [failed] },
    { kind: 'rolled-back', because: 'the image cannot be pulled', to: 'web:1' },
    ['web:2', 'web:1'],
  ],
  [
    'rolled back after the deadline',
    { runs: [seen('web:1')], ends: [{ kind: 'deadline', last: null }] },
    { kind: 'rolled-back', because: 'it was not ready after 1000 ms: nothing was seen of it', to: 'web:1' },
    ['web:2', 'web:1'],
  ],
  [
    'a rollback that failed',
    { runs: [seen('web:1')], ends: [failed, failed] },
    { kind: 'rollback-failed', because: 'the image cannot be pulled', rollbackBecause: 'the image cannot be pulled' },
    ['web:2', 'web:1'],
  ],
  [
    'a rollback that was refused',
    { runs: [seen('web:1'), seen('web:2')], ends: [failed], lost: ['web:1'] },
    { kind: 'rollback-failed', because: 'the image cannot be pulled', rollbackBecause: 'The connection was lost.' },
    ['web:2', 'web:1'],
  ],
  [
    'no anchor',
    { runs: [absent], ends: [failed] },
    { kind: 'no-anchor', because: 'the image cannot be pulled' },
    ['web:2'],
  ],
  [
    'F8: a lost answer whose change was made',
    { runs: [seen('web:1'), seen('web:2')], lost: ['web:2'] },
    { kind: 'promoted', from: 'web:1', to: 'web:2' },
    ['web:2'],
  ],
  [
    'F8: a lost answer of which nothing can be read',
    { runs: [seen('web:1'), unknown('timeout')], lost: ['web:2'] },
    { kind: 'rolled-back', because: 'The connection was lost. timeout.', to: 'web:1' },
    ['web:2', 'web:1'],
  ],
];

for (const [what, script, outcome, set] of ends) {
  test(`a rollout ends as it was seen to: ${what}`, async () => {
    const made = cluster(script);
    assert.deepEqual(valueOf(await ladder.rollout(made.operations, clearance, plan)), outcome);
    assert.deepEqual(made.set, set);
  });
}

test('I10: with an anchor that cannot be read nothing is changed', async () => {
  const { operations, set } = cluster({ runs: [unknown('timeout')] });
  assert.equal(answerOf(await ladder.rollout(operations, clearance, plan)), 'rollout-anchor-unknown');
  assert.deepEqual(set, []);
});

test('a change that was refused, and was seen not to be made, is a refusal', async () => {
  const { operations } = cluster({ runs: [seen('web:1'), seen('web:1')], lost: ['web:2'] });
  assert.equal(answerOf(await ladder.rollout(operations, clearance, plan)), 'ladder-operation-failed');
  const same = cluster({ runs: [seen('web:2'), seen('web:2')], lost: ['web:2'] });
  assert.equal(answerOf(await ladder.rollout(same.operations, clearance, plan)), 'ladder-operation-failed');
});

test('guarded, a rollout of another slot changes nothing; progress is told as it comes', async () => {
  const elsewhere = cluster({ runs: [seen('web:1'), seen('web:2')] });
  const auditing = memoryAuditing();
  const guarded = ladder.guardedOperations(elsewhere.operations, auditing);
  const far = { ...plan, namespace: 'orchard-production' };
  assert.equal(answerOf(await ladder.rollout(guarded, clearance, far)), 'clearance-elsewhere');
  assert.deepEqual([elsewhere.set, auditing.lines.map(({ outcome }) => outcome)], [[], ['refused']]);
  const told: string[] = [];
  const { operations } = cluster({ runs: [seen('web:1')] });
  valueOf(await ladder.rollout(operations, clearance, plan, ({ waitingOn }) => told.push(waitingOn)));
  assert.deepEqual(told, ['3 pods']);
});

test('a dry run is the plan', () => {
  assert.match(
    ladder.renderRollout(plan),
    /^1\. note what deployment\/web in orchard-qa runs now\n2\. set it to web:2/,
  );
});
