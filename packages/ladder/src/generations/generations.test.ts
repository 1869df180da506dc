import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { answerOf, countingOperations, slotOf, valueOf, worldOf } from '../guard/testing/world.ts';
import * as ladder from '../index.ts';

const qa = slotOf('qa');
const AT_MS = Date.UTC(2026, 10, 30, 1, 11, 59, 999);
const route = { host: 'qa.example.test', service: 'web', port: 8080, tls: 'qa-tls' };

test('a generation is named after its minute in UTC', () => {
  assert.deepEqual(valueOf(ladder.newGeneration(qa, AT_MS, [])), {
    slot: 'qa',
    namespace: 'qa-20261130-0111',
    madeAtMs: Date.UTC(2026, 10, 30, 1, 11),
  });
});

test('a second generation within the minute is refused', () => {
  assert.equal(answerOf(ladder.newGeneration(qa, AT_MS - 59_000, ['qa-20261130-0111'])), 'generation-exists');
});

test('a time that no four digits of a year carry is a fault', () => {
  for (const atMs of [Date.UTC(12_026, 0), -8e15, Number.NaN]) {
    assert.throws(() => ladder.generationName('qa', atMs), RangeError);
  }
});

test('a namespace is a generation of exactly its slot, at a time that there is', () => {
  assert.ok(ladder.isOf('qa', 'qa-20240229-2359'));
  const others = [
    'qa-20230229-0000',
    'qa-20261301-0000',
    'qa-20261130-2400',
    'qa-20261130-0160',
    'qa-20261130-011',
    'qa-20261130-01111',
    'qa-2-20261130-0111',
    'q-20261130-0111',
    'xqa-20261130-0111',
    'qa20261130-0111',
    'qa',
  ];
  for (const other of others) assert.ok(!ladder.isOf('qa', other), other);
});

test('generations come newest first, of the slot’s name and its namespace, and of no other slot', () => {
  const namespaces = [
    'qa-20251231-2359',
    'orchard-qa-20261130-0111',
    'qa-20261130-0112',
    'qa',
    'qa-2-20261130-0111',
    'orchard-qa',
  ];
  assert.deepEqual(
    ladder.generationsOf(qa, [...namespaces, ...namespaces]).map(({ namespace }) => namespace),
    ['qa-20261130-0112', 'orchard-qa-20261130-0111', 'qa-20251231-2359'],
  );
});

test('over random times: a name is read back as its minute, and order is that of time', () => {
  const time = fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) });
  fc.assert(
    fc.property(fc.array(time, { maxLength: 6 }), (times) => {
      const names = times.map((atMs) => ladder.generationName('qa', atMs));
      const made = ladder.generationsOf(qa, names).map(({ madeAtMs }) => madeAtMs);
      const minutes = [...new Set(times.map((atMs) => Math.floor(atMs / 60_000) * 60_000))];
      assert.deepEqual(
        made,
        minutes.toSorted((a, b) => b - a),
      );
    }),
    { numRuns: 60 },
  );
});

test('a switch wakes, then leads the host over, then drops the old route; the old one stays awake', () => {
  const plan = valueOf(ladder.switchPlan(qa, { from: 'qa-20261129-0000', to: 'qa-20261130-0111', route }));
  assert.deepEqual(ladder.renderPlan(plan).split('\n'), [
    '1. wake qa-20261130-0111 and wait until it is ready',
    '2. lead qa.example.test to web:8080 in qa-20261130-0111 with the certificate qa-tls',
    '3. drop the route of qa.example.test in qa-20261129-0000',
  ]);
  const first = valueOf(ladder.switchPlan(qa, { from: null, to: 'orchard-qa', route }));
  assert.deepEqual(
    first.map(({ kind }) => kind),
    ['wake', 'route-host'],
  );
});

test('raising ends with the switch, and what can refuse comes while the namespace is empty', () => {
  const plan = valueOf(ladder.raisePlan(qa, { from: 'orchard-qa', to: 'qa-20261130-0111', route }));
  assert.deepEqual(
    plan.map((step) => (step.kind === 'raise' ? step.phase : step.kind)),
    ['access', 'namespace', 'tls', 'storage', 'secrets', 'release', 'data', 'wake', 'route-host', 'drop-route'],
  );
});

test('a plan of another slot’s namespace or host, or one that leads nowhere, is refused', () => {
  const to = 'qa-20261130-0111';
  const answers = [
    ladder.switchPlan(qa, { from: null, to: 'dev-20261130-0111', route }),
    ladder.switchPlan(qa, { from: 'orchard-dev', to, route }),
    ladder.switchPlan(qa, { from: to, to, route }),
    ladder.switchPlan(qa, { from: null, to, route: { ...route, host: 'shop.example.test' } }),
    ladder.sleepPlan(qa, 'orchard-dev'),
    ladder.wakePlan(qa, 'orchard-dev'),
    ladder.raisePlan(qa, { from: null, to: 'orchard-dev', route }),
  ];
  assert.deepEqual(answers.map(answerOf), [
    'generation-foreign',
    'generation-foreign',
    'switch-nowhere',
    'host-not-of-slot',
    'generation-foreign',
    'generation-foreign',
    'generation-foreign',
  ]);
});

test('F21, I10: what a host leads to, or may lead to, is not put to sleep', async () => {
  const clearance = valueOf(await worldOf(ladder).clear({ slot: 'qa' }));
  const operations = countingOperations();
  const plan = valueOf(ladder.sleepPlan(qa, 'qa-20261130-0111'));
  for (const [leads, answer] of [
    ['qa-20261130-0111', 'generation-live'],
    ['unknown', 'host-owner-unknown'],
    ['orchard-qa', 'granted'],
  ] as const) {
    operations.hosts['qa.example.test'] = leads;
    assert.equal(answerOf(await ladder.runPlan(operations, clearance, plan, { stepDeadlineMs: 1 })), answer);
  }
  assert.deepEqual(operations.reached, ['sleep qa-20261130-0111']);
});

test('I10: no host is led to a namespace in which nothing runs, however awake it is', async () => {
  const clearance = valueOf(await worldOf(ladder).clear({ slot: 'qa' }));
  const operations = countingOperations();
  operations.empty.add('qa-20261130-0111');
  const plan = valueOf(ladder.switchPlan(qa, { from: 'orchard-qa', to: 'qa-20261130-0111', route }));
  assert.equal(answerOf(await ladder.runPlan(operations, clearance, plan, { stepDeadlineMs: 1 })), 'generation-empty');
  assert.deepEqual(operations.reached, ['wake qa-20261130-0111']);
});

test('a plan stops at the first step that is refused and says what was done', async () => {
  const clearance = valueOf(await worldOf(ladder).clear({ slot: 'qa' }));
  const operations = countingOperations();
  const stuck = { ...operations, routeHost: async () => ladder.requireCovers(clearance, 'elsewhere') as never };
  const plan = valueOf(ladder.switchPlan(qa, { from: 'orchard-qa', to: 'qa-20261130-0111', route }));
  const told: string[] = [];
  const outcome = await ladder.runPlan(stuck, clearance, plan, {
    stepDeadlineMs: 1,
    progress: (step) => told.push(step.kind),
  });
  assert.ok(!outcome.ok);
  assert.deepEqual(outcome.refusal.detail, { done: ['wake qa-20261130-0111 and wait until it is ready'] });
  assert.deepEqual([told, operations.reached], [['wake', 'route-host'], ['wake qa-20261130-0111']]);
});
