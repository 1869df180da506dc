import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BUILDS, HELPERS, scheduleOf, TARGETS } from './schedule.ts';

const TWO_MINUTES_MS = 120_000;

test('the same seed gives the same schedule, another seed another', () => {
  assert.deepEqual(scheduleOf(7, TWO_MINUTES_MS), scheduleOf(7, TWO_MINUTES_MS));
  assert.notDeepEqual(scheduleOf(7, TWO_MINUTES_MS), scheduleOf(8, TWO_MINUTES_MS));
});

test('two minutes of any seed hit every kind of process, try every kind of build and give every kind of order', () => {
  for (let seed = 0; seed < 50; seed += 1) {
    const planned = scheduleOf(seed, TWO_MINUTES_MS);
    for (const role of [...HELPERS, ...TARGETS]) {
      for (const kind of ['kill', 'stop']) {
        assert.ok(
          planned.some((deed) => deed.kind === kind && 'role' in deed && deed.role === role),
          `seed ${seed}: ${kind} ${role}`,
        );
      }
    }
    for (const build of BUILDS) assert.ok(planned.some((deed) => deed.kind === 'deploy' && deed.build === build));
    for (const kind of ['kill-in', 'kill-launcher', 'restart', 'cancel', 'expire', 'freeze', 'hold', 'fill-disk']) {
      assert.ok(
        planned.some((deed) => deed.kind === kind),
        `seed ${seed}: ${kind}`,
      );
    }
  }
});
