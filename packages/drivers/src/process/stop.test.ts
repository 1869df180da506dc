import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { readStat } from './proc.ts';
import { Bench, RELEASE } from './testing/bench.ts';
import { logged } from './testing/logs.ts';

/** A zombie that its parent did not collect yet is dead. */
function alive(pid: number): boolean {
  const stat = readStat(pid);
  return stat.kind === 'seen' && stat.value.state !== 'Z';
}

test('F15: stopping ends the whole tree, and tree-empty is what was seen', async (t) => {
  const bench = new Bench(t);
  const handle = await bench.start(bench.launch('stubborn'));
  const text = await logged(bench.driver.logPath('game', handle.activation), /up \d+\n/);
  const child = Number(/up (\d+)/.exec(text)?.[1]);
  assert.ok(alive(child));
  assert.deepEqual(await bench.driver.stop(handle, 20), { kind: 'gone', proof: 'tree-empty', forced: true });
  assert.ok(!alive(handle.identity.pid) && !alive(child));
  assert.deepEqual(await bench.driver.stop(handle, 20), { kind: 'gone', proof: 'tree-empty', forced: false });
});

test('F15: a descendant that outlives the program is found, and ended, by the tree', async (t) => {
  const bench = new Bench(t);
  const handle = await bench.start(bench.launch('abandoning'));
  bench.driver.watch(handle);
  await bench.death(handle.activation);
  const found = await bench.driver.find('game', handle.activation);
  assert.equal(found.kind, 'seen');
  assert.equal((await bench.driver.observe(handle, RELEASE)).kind, 'absent');
  assert.equal((await bench.driver.stop(handle, 20_000)).kind, 'gone');
  assert.equal((await bench.driver.find('game', handle.activation)).kind, 'absent');
});

test('F25: a program that ends at once is not waited for', async (t) => {
  for (const controlGroups of ['when-available', 'never'] as const) {
    const bench = new Bench(t, { controlGroups });
    const handle = await bench.start(bench.sleep({ singleProcess: true }));
    const before = performance.now();
    const answer = await bench.driver.stop(handle, 60_000);
    assert.equal(answer.kind, 'gone');
    assert.ok(performance.now() - before < 10_000);
  }
});

test('I10: without a control group the parent’s end proves nothing of its children', async (t) => {
  const bench = new Bench(t, { controlGroups: 'never' });
  const handle = await bench.start(bench.launch('stubborn'));
  const text = await logged(bench.driver.logPath('game', handle.activation), /up \d+\n/);
  const child = Number(/up (\d+)/.exec(text)?.[1]);
  assert.deepEqual(await bench.driver.stop(handle, 20), { kind: 'parent-gone' });
  assert.ok(!alive(handle.identity.pid));
  // It still carries the activation's id, so it was ended all the same.
  while (alive(child)) await new Promise((resolve) => setImmediate(resolve));
});

test('F15: what a program that is bound as a single process left behind is ended with it', async (t) => {
  const bench = new Bench(t, { controlGroups: 'never' });
  const handle = await bench.start(bench.launch('stubborn', { singleProcess: true }));
  const text = await logged(bench.driver.logPath('game', handle.activation), /up \d+\n/);
  const child = Number(/up (\d+)/.exec(text)?.[1]);
  assert.deepEqual(await bench.driver.stop(handle, 20), { kind: 'gone', proof: 'single-process', forced: true });
  assert.ok(!alive(handle.identity.pid) && !alive(child));
});

test('I1: a second process of the same activation is found and ended, the tree with its children is not', async (t) => {
  const bench = new Bench(t);
  const handle = await bench.start(bench.launch('stubborn'));
  const text = await logged(bench.driver.logPath('game', handle.activation), /up \d+\n/);
  const child = Number(/up (\d+)/.exec(text)?.[1]);
  assert.deepEqual(await bench.driver.endOthers(handle), { ended: [], left: [] });
  const second = spawn(bench.file('sleep'), ['1000'], {
    env: { IDUNN_ACTIVATION: handle.activation },
    stdio: 'ignore',
  });
  const gone = once(second, 'exit');
  const { ended, left } = await bench.driver.endOthers(handle);
  assert.deepEqual([ended.map(({ pid }) => pid), left], [[second.pid], []]);
  assert.deepEqual(await gone, [null, 'SIGKILL']);
  assert.ok(alive(handle.identity.pid) && alive(child));
});
