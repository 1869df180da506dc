import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { digestBytes } from '@idunn/kernel';
import { FakeTime } from '@idunn/kernel/testing';
import { identify, ownStandpoint, vital } from './identity.ts';
import { readStat } from './proc.ts';
import { Bench } from './testing/bench.ts';
import { DeathWatch } from './watch.ts';

const kill = (pid: number): void => void process.kill(pid, 'SIGKILL');

test('a death is told once, by its event', async (t) => {
  const bench = new Bench(t, { repairMs: 1e6 });
  const handle = await bench.start(bench.sleep());
  bench.driver.watch(handle);
  bench.driver.watch(handle);
  kill(handle.identity.pid);
  assert.deepEqual(await bench.death(handle.activation), {
    kind: 'died',
    target: 'game',
    activation: handle.activation,
  });
  await bench.driver.stop(handle, 0);
  assert.equal(bench.events.length, 1);
});

test('a death is told by the pipe alone to a daemon that is not the parent', async (t) => {
  const bench = new Bench(t);
  const handle = await bench.start(bench.sleep());
  const later = new Bench(t, { ...bench.options, repairMs: 1e6 });
  later.driver.watch(handle);
  const told = later.death(handle.activation);
  kill(handle.identity.pid);
  assert.equal((await told).kind, 'died');
});

test('a death while no daemon watched is told as soon as one watches', async (t) => {
  const bench = new Bench(t);
  const handle = await bench.start(bench.sleep());
  await bench.driver.stop(handle, 20_000);
  const later = new Bench(t, { ...bench.options, repairMs: 1e6 });
  const told = later.death(handle.activation);
  later.driver.watch(handle);
  assert.equal((await told).activation, handle.activation);
});

test('I6: a process outlives the daemon that started it, and its death reaches the next one', async (t) => {
  const bench = new Bench(t);
  const launch = bench.sleep();
  const activation = await bench.mint(launch);
  // Another process plays the first daemon: it starts the program and is killed.
  const first = spawn(
    process.execPath,
    ['--conditions=source', new URL('./testing/first-daemon.ts', import.meta.url).pathname],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const seed = bench.authorityKey.privateKey.export({ format: 'pem', type: 'pkcs8' });
  first.stdin.end(
    JSON.stringify({
      roots: bench.options.roots,
      root: bench.root,
      seed,
      request: bench.launchRequest(activation, launch),
    }),
  );
  const [line] = (await once(first.stdout, 'data')) as [Buffer];
  first.kill('SIGKILL');
  await once(first, 'exit');
  const handle = JSON.parse(line.toString());
  const found = await bench.driver.find('game', activation.activation);
  assert.deepEqual(found, { kind: 'seen', value: handle });
  bench.driver.watch(handle);
  assert.equal((await bench.driver.observe(handle, digestBytes('a release'))).kind, 'seen');
  const told = bench.death(activation.activation);
  assert.equal((await bench.driver.stop(handle, 20_000)).kind, 'gone');
  await told;
});

test('the sweep repairs what the pipe cannot tell: a program that left it to a child', async (t) => {
  const bench = new Bench(t);
  const handle = await bench.start(
    bench.sleep({ program: { kind: 'artifact', artifact: 'app', path: 'leaving' }, args: [] }),
  );
  const later = new Bench(t, { ...bench.options, repairMs: 5 });
  later.driver.watch(handle);
  assert.equal((await later.death(handle.activation)).kind, 'died');
  await bench.driver.stop(handle, 0);
});

test('a program that closed its pipe and is left as a zombie is told by the next sweep', async (t) => {
  // The shell becomes a program that collects nobody; its child is watched.
  const parent = spawn('sh', ['-c', 'sleep 1000 & echo $!; exec sleep 1000'], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => parent.kill('SIGKILL'));
  const [line] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(line.toString());
  const from = ownStandpoint('boot-1');
  const identity = identify(pid, null, from);
  assert.ok(identity.kind === 'seen');
  const time = new FakeTime();
  const watch = new DeathWatch(from, time, 5_000);
  t.after(() => watch.close());
  const told: string[] = [];
  watch.subscribe(({ activation }) => told.push(activation));
  const process = { version: 1, driver: 'process', identity: identity.value } as const;
  watch.watch({ ...process, target: 'game', activation: 'act-1' }, '/nowhere/alive');
  await setImmediate();
  time.pass(1_000);
  kill(pid);
  while (readStat(pid).kind === 'seen' && vital(identity.value, from).kind === 'seen') await setImmediate();
  assert.equal(readStat(pid).kind, 'seen', 'its parent does not collect it');
  assert.deepEqual(told, []);
  time.pass(4_000);
  assert.deepEqual(told, ['act-1']);
});

test('F7: how a child ended is told, by code or by signal, and null where nobody can know it', async (t) => {
  const bench = new Bench(t);
  const killed = await bench.start(bench.sleep());
  assert.equal(await bench.driver.lastExit(killed.activation), null, 'it lives');
  bench.driver.watch(killed);
  kill(killed.identity.pid);
  await bench.death(killed.activation);
  assert.deepEqual(await bench.driver.lastExit(killed.activation), { code: null, signal: 'SIGKILL' });
  const failed = await bench.start(bench.sleep({ args: [{ literal: 'never' }] }));
  bench.driver.watch(failed);
  await bench.death(failed.activation);
  assert.deepEqual(await bench.driver.lastExit(failed.activation), { code: 1, signal: null });
  const later = new Bench(t, bench.options);
  assert.equal(await later.driver.lastExit(failed.activation), null, 'another daemon had started it');
});
