import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { digestBytes } from '@idunn/kernel';
import { Bench } from './testing/bench.ts';

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
