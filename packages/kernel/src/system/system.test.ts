import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { elapsedMs, moment } from '../clock.ts';
import { systemClock } from './clock.ts';
import { randomIds } from './ids.ts';
import { systemTimers } from './timers.ts';

test('F29: monotonic time compares between processes of one boot', async () => {
  const clock = systemClock();
  const before = clock.monotonicMs();
  const script = 'process.stdout.write(String(Number(process.hrtime.bigint()) / 1e6))';
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script]);
  assert.ok(before <= Number(stdout) && Number(stdout) <= clock.monotonicMs());
  assert.match(clock.bootId, /^[0-9a-f-]{36}$/);
});

test('F29: a span over a restart of the machine is unknown, and a jump of the wall clock changes none', () => {
  const clock = systemClock();
  const from = moment(clock);
  assert.equal(elapsedMs({ ...clock, bootId: 'another' }, from), null);
  const jumped = elapsedMs({ ...clock, wallMs: () => 0 }, from);
  assert.ok(jumped !== null && jumped >= 0 && jumped < 60_000);
});

test('a timer fires once, later, and not when it was withdrawn', async () => {
  const fired: string[] = [];
  systemTimers.after(1, () => fired.push('withdrawn'))();
  await new Promise<void>((resolve) => {
    systemTimers.after(1, () => fired.push('first'));
    systemTimers.after(5, resolve);
    assert.deepEqual(fired, []);
  });
  assert.deepEqual(fired, ['first']);
});

test('a timer longer than Node’s own limit does not fire at once', async () => {
  const fired: string[] = [];
  const withdraw = systemTimers.after(2 ** 33, () => fired.push('long'));
  await new Promise<void>((resolve) => void systemTimers.after(5, resolve));
  withdraw();
  assert.deepEqual(fired, []);
});

test('ids carry their prefix and 128 bits', () => {
  assert.match(randomIds.fresh('tx'), /^tx-[0-9a-f]{32}$/);
  assert.notEqual(randomIds.fresh('tx'), randomIds.fresh('tx'));
});
