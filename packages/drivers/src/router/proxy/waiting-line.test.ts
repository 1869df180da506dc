import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Clock, systemTimers, type Timers } from '@idunn/kernel';
import { Budget } from './budget.ts';
import { type Departure, WaitingLine } from './waiting-line.ts';

/** A line on a clock that the test moves, with what left it, in order. */
function line(countLimit: number, byteLimit: number) {
  let now = 0;
  const due: { at: number; fire: () => void; off: boolean }[] = [];
  const clock: Clock = { bootId: 'boot', wallMs: () => 0, monotonicMs: () => now };
  const timers: Timers = {
    after(delayMs, fire) {
      const timer = { at: now + delayMs, fire, off: false };
      due.push(timer);
      return () => {
        timer.off = true;
      };
    },
  };
  const budget = new Budget(byteLimit);
  const left: [string, Departure, number][] = [];
  const waiting = new WaitingLine(clock, timers, budget, countLimit);
  return {
    waiting,
    budget,
    left,
    place: (name: string, bytes = 10, withinMs = 100) => ({
      bytes,
      withinMs,
      depart: (departure: Departure, waitedMs: number) => void left.push([name, departure, waitedMs]),
    }),
    pass: (ms: number): void => {
      now += ms;
      for (const timer of due) if (!timer.off && timer.at <= now) timer.fire();
    },
  };
}

const ticks = (): Promise<void> => new Promise((resolve) => void systemTimers.after(0, resolve));

test('count and bytes are limits, and what leaves makes room', async () => {
  const { waiting, budget, place } = line(2, 25);
  const first = place('first');
  assert.deepEqual([waiting.enter(first), waiting.enter(place('second'))], ['waiting', 'waiting']);
  assert.equal(waiting.enter(place('third', 1)), 'full');
  waiting.leave(first);
  waiting.leave(first);
  assert.equal(waiting.enter(place('heavy', 16)), 'full');
  assert.equal(waiting.enter(place('light', 15)), 'waiting');
  waiting.letGo('switched');
  await ticks();
  assert.deepEqual([waiting.length, budget.used], [0, 0]);
});

test('each waits its own time; who is let go is not told twice', async () => {
  const { waiting, left, place, pass } = line(10, 1_000);
  waiting.enter(place('early', 10, 50));
  pass(20);
  waiting.enter(place('late', 10, 50));
  pass(30);
  assert.deepEqual(left, [['early', 'expired', 50]]);
  waiting.letGo('released');
  await ticks();
  pass(1_000);
  assert.deepEqual(left.slice(1), [['late', 'released', 30]]);
});

test('all go in the order in which they came, and who enters meanwhile waits anew', async () => {
  const { waiting, left, place } = line(10, 1_000);
  for (const name of ['a', 'b', 'c']) {
    const own = place(name);
    waiting.enter({
      ...own,
      depart: (departure, waitedMs) => {
        own.depart(departure, waitedMs);
        if (name === 'a') waiting.enter(place('again'));
      },
    });
  }
  waiting.letGo('switched');
  await ticks();
  assert.deepEqual(
    left.map(([name]) => name),
    ['a', 'b', 'c'],
  );
  assert.equal(waiting.length, 1);
});
