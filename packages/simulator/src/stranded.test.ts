import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EnginePorts, TargetRecord } from '@idunn/authority';
import { absent } from '@idunn/kernel';
import { LostAnswer } from './ports/life.ts';
import { run } from './run.ts';
import { ALONE, CALM, diesOnce, type Scenario } from './scenario.ts';
import { sweep } from './sweep.ts';
import { gaveWay, publishesNothing } from './teeth/continuity.ts';

/** Its schema bars the way back, it ends whenever it is granted, and the next command waits behind it. */
const stuckBeforeAnother = (behaviour: 'exits-at-start' | 'good'): Scenario => ({
  ...CALM,
  seed: 3,
  shapes: { app: { stores: 1, routed: true } },
  deploys: [
    { target: 'app', atMs: 10, behaviour: 'good', revision: 1 },
    { target: 'app', atMs: 300, behaviour: 'exits-after-grant', revision: 2, newSchema: true },
    { target: 'app', atMs: 600, behaviour, revision: 3, newSchema: true },
  ],
});

test('I9, F22: what holds the lease is launched for ever though a deployment replaced it that aborted', async () => {
  const { violations, results, world } = await run(stuckBeforeAnother('exits-at-start'));
  assert.deepEqual(
    results.map((result) => result?.outcome),
    ['admitted', 'operator-required', 'aborted'],
  );
  assert.deepEqual(violations, []);
  const overMs = world.ledger.of('told-ended').find(({ outcome }) => outcome === 'aborted')?.atMs ?? 0;
  assert.ok(world.ledger.of('started').some(({ atMs }) => atMs > overMs));
});

test('I6, I9: whenever Idunn dies, one that is stuck is told as such, and keeps what it launched', async () => {
  const { failing, outcomes } = await sweep({
    ...CALM,
    seed: 1,
    shapes: { app: { stores: 1, routed: true } },
    deploys: [
      { target: 'app', atMs: 10, behaviour: 'good', revision: 1 },
      { target: 'app', atMs: 200, behaviour: 'never-active', revision: 2, newSchema: true },
    ],
  });
  assert.deepEqual([failing, [...outcomes]], [[], ['operator-required']]);
});

test('F22: a build that accepts its state replaces what is stuck', async () => {
  const { violations, results } = await run(stuckBeforeAnother('good'));
  assert.deepEqual(
    results.map((result) => result?.outcome),
    ['admitted', 'operator-required', 'admitted'],
  );
  assert.deepEqual(violations, []);
});

test('I9, F22: a restart that gave way to a deployment which then aborts is brought back, and led to', async () => {
  let left = 0;
  for (let atMs = 850; atMs <= 1_050; atMs += 10) {
    const { violations, results, world } = await run(gaveWay(atMs), { ports: publishesNothing });
    assert.deepEqual([atMs, violations], [atMs, []]);
    const yielded = world.ledger.of('told-ended').some(({ code }) => code === 'restart-yielded');
    if (!yielded || results[1]?.outcome !== 'aborted') continue;
    const [served] = world.route('app')?.members ?? [];
    assert.equal(world.processes.get(served?.activation ?? '')?.state, 'active');
    left += 1;
  }
  assert.ok(left > 2, `${left} restarts gave way in vain`);
});

/** Whoever is stranded is once told to be gone, while it lives. */
function toldGoneOnce({ store, workload, ...ports }: EnginePorts): EnginePorts {
  let stranded: string | undefined;
  let isTold = false;
  return {
    ...ports,
    store: {
      ...store,
      commit: (batch) => {
        for (const { key, next } of batch.mutations) {
          if (key.kind === 'target') stranded ??= (next as unknown as TargetRecord).stranded?.document.activation;
        }
        return store.commit(batch);
      },
    },
    workload: {
      ...workload,
      observe: async (handle, release) => {
        if (handle.activation !== stranded || isTold) return workload.observe(handle, release);
        isTold = true;
        return absent;
      },
    },
  };
}

test('F16, F22: who was stranded is ended, though a restart of what was seen gone by mistake gave way', async () => {
  const next = { target: 'app', revision: 2, newSchema: true } as const;
  const scenario: Scenario = {
    ...CALM,
    seed: 1,
    shapes: { app: { stores: 1, routed: true } },
    deploys: [
      { target: 'app', atMs: 10, behaviour: 'good', revision: 1 },
      { ...next, atMs: 200, behaviour: 'leaves-the-observer-out' },
      { ...next, atMs: 300, behaviour: 'good' },
    ],
  };
  const { violations, results, world } = await run(scenario, { ports: toldGoneOnce });
  // What the driver told was told on, as it was (I10).
  assert.deepEqual(
    violations.filter(({ of }) => of !== 'I10'),
    [],
  );
  assert.deepEqual(
    results.map((result) => result?.outcome),
    ['admitted', 'operator-required', 'admitted'],
  );
  assert.ok(world.ledger.of('told-ended').some(({ code }) => code === 'restart-yielded'));
  const living = [...world.processes.values()].filter(({ alive }) => alive);
  assert.deepEqual([living.length, living[0]?.behaviour], [1, 'good']);
});

test('F16, F22: a restart that gave way as it was routed is admitted as it runs, if nobody took over', async () => {
  let led = 0;
  for (let atMs = 880; atMs <= 960; atMs += 4) {
    const once = diesOnce('forks-a-writer', { stores: 0, routed: true });
    const second = { target: 'app', atMs, behaviour: 'redirects-for-ever' as const, revision: 2 };
    const deploys = [...once.deploys, second];
    const { violations, results, world } = await run({ ...once, deploys });
    assert.deepEqual([atMs, violations], [atMs, []]);
    const yielded = world.ledger.of('told-ended').some(({ code }) => code === 'restart-yielded');
    if (!yielded || results[1]?.outcome !== 'rolled-back') continue;
    const living = [...world.processes.values()].filter(({ treeLives }) => treeLives);
    assert.deepEqual([living.length, world.ledger.of('told-restored').length], [1, 1]);
    led += 1;
  }
  assert.ok(led > 0, `${led} restarts gave way in vain`);
});

/** The second start is carried out long after it was asked for, and its answer is lost. */
function startsLate({ workload, timers, ...ports }: EnginePorts): EnginePorts {
  let starts = 0;
  const start: typeof workload.start = async (request) => {
    starts += 1;
    if (starts !== 2) return workload.start(request);
    timers.after(300, () => void workload.start(request));
    throw new LostAnswer('start');
  };
  return { ...ports, timers, workload: { ...workload, start } };
}

test('F16, F22: a launch whose start comes after its restart gave way finds that it is spent', async () => {
  let late = 0;
  for (let atMs = 860; atMs <= 920; atMs += 5) {
    const once = diesOnce('good', ALONE);
    const deploys = [...once.deploys, { target: 'app', atMs, behaviour: 'good' as const, revision: 2 }];
    const { violations, world } = await run({ ...once, deploys }, { ports: startsLate });
    assert.deepEqual([atMs, violations], [atMs, []]);
    late += world.ledger.of('told-ended').filter(({ code }) => code === 'restart-yielded').length;
  }
  assert.ok(late > 2, `${late} restarts gave way`);
});
