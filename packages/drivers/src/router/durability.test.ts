import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { appendFile, mkdir, readFile, rename, rm, rmdir, stat, unlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { lostBecause, stands } from '../helper/testing/stands.ts';
import { routerProgram } from './driver/program.ts';
import { journalPath } from './state/keeper.ts';
import { ask } from './testing/client.ts';
import { contractOf, eventually, freePort, gone, type Rig, rig, value } from './testing/rig.ts';

const run = promisify(execFile);

/** Starts the program by hand, as a service manager would, and answers how it ended. */
async function startByHand({ directory, stateFile }: Rig): Promise<{ code: number; stderr: string }> {
  const [file, ...args] = routerProgram();
  const control = join(directory, 'run', 'router.sock');
  const log = join(directory, 'log', 'router.log');
  const options = ['--fleet', 'test-fleet', '--control', control, '--state', stateFile, '--log', log];
  try {
    await run(file, [...args, ...options]);
    return { code: 0, stderr: '' };
  } catch (error) {
    const { code, stderr } = error as { code: number; stderr: string };
    return { code, stderr };
  }
}

/** Ends the router for good: the driver lets go first, so that nobody brings it back. */
async function kill(router: Rig): Promise<void> {
  const pid = await router.pid();
  router.driver.close();
  process.kill(pid, 'SIGKILL');
  await gone(pid);
}

test('F9: a killed router comes back by itself with the last acknowledged snapshots, unasked', async (t) => {
  const fleet = await rig(t);
  const contract = await contractOf();
  const other = await contractOf({ name: 'other' });
  const [one, two, three] = await Promise.all(['one', 'two', 'three'].map((name) => fleet.backend(name)));
  assert.ok(one && two && three);
  await fleet.serve(other, [three.member], 'other');
  for (let round = 0; round < 5; round++) {
    await fleet.serve(contract, [one.member]);
    const staged = value(await fleet.driver.stage('web', contract, [two.member]));
    value(await fleet.driver.publish(staged));
    // The acknowledgement alone vouches for it: the kill does not wait for the sync.
    const pid = await fleet.pid();
    const back = nextLinkUp(fleet);
    process.kill(pid, 'SIGKILL');
    await back;
    assert.notEqual(await fleet.pid(), pid);
    assert.equal((await ask(contract.listen.port)).body, 'two');
    assert.equal((await ask(other.listen.port)).body, 'three');
  }
  const state = await fleet.driver.read('web');
  assert.deepEqual(state.kind === 'seen' && [state.value.generation, state.value.members], [10, [two.member]]);
});

function nextLinkUp({ driver }: Rig): Promise<void> {
  return new Promise((resolve) => {
    driver.subscribe((event) => {
      if (event.kind === 'link' && event.state === 'up') resolve();
    });
  });
}

test('a router that cannot come back is told as lost with the reason, until it does', async (t) => {
  const { driver, another, stateFile, pid } = await rig(t);
  assert.deepEqual(another().link.standing(), { kind: 'untried' });
  assert.deepEqual(driver.link.standing(), { kind: 'up' });
  const router = await pid();
  await rename(stateFile, `${stateFile}.kept`);
  await mkdir(stateFile);
  process.kill(router, 'SIGKILL');
  await stands(driver.link, lostBecause(/is no plain file/));
  await rmdir(stateFile);
  await rename(`${stateFile}.kept`, stateFile);
  await stands(driver.link, ({ kind }) => kind === 'up');
});

test('a staged snapshot survives the router, and is served only once it is published', async (t) => {
  const fleet = await rig(t);
  const contract = await contractOf();
  const one = await fleet.backend('one');
  const two = await fleet.backend('two');
  await fleet.serve(contract, [one.member]);
  const staged = value(await fleet.driver.stage('web', contract, [two.member]));
  await kill(fleet);
  value(await fleet.driver.ensure());
  assert.equal((await ask(contract.listen.port)).body, 'one');
  value(await fleet.driver.publish(staged));
  assert.equal((await ask(contract.listen.port)).body, 'two');
});

test('F9: a state that cannot be read is loud, never an empty router', async (t) => {
  const fleet = await rig(t);
  const { stateFile } = fleet;
  const contract = await contractOf();
  await fleet.serve(contract, [(await fleet.backend('one')).member]);
  await kill(fleet);
  const whole = await readFile(stateFile);
  const journal = await readFile(journalPath(stateFile));
  const spoils: Readonly<Record<string, () => Promise<unknown>>> = {
    'an empty state file': () => writeFile(stateFile, ''),
    'a state file of garbage': () => writeFile(stateFile, '{"schema":"idunn.router-st'),
    'a state file of a later version': () => writeFile(stateFile, '{"schema":"idunn.router-state/v2"}'),
    'a journal of garbage': () => appendFile(journalPath(stateFile), 'garbage\n'),
    'a state file that has gone': () => unlink(stateFile),
    'a directory in its place': () => mkdir(stateFile),
  };
  for (const [what, spoil] of Object.entries(spoils)) {
    await spoil();
    const { code, stderr } = await startByHand(fleet);
    assert.equal(code, 78, what);
    assert.match(stderr, /router-state-unreadable/, what);
    await assert.rejects(ask(contract.listen.port), /ECONNREFUSED/);
    if (what.startsWith('a directory')) {
      const ensured = await fleet.driver.ensure();
      assert.equal(!ensured.ok && ensured.refusal.code, 'router-state-unreadable');
      await rmdir(stateFile);
    } else if (!what.includes('gone')) {
      await writeFile(stateFile, whole);
      await writeFile(journalPath(stateFile), journal);
    }
  }
  // Restored, it serves again what it served.
  await writeFile(stateFile, whole);
  value(await fleet.driver.ensure());
  assert.equal((await ask(contract.listen.port)).body, 'one');
});

test('a torn last line of the journal was never acknowledged, and is cut off', async (t) => {
  const fleet = await rig(t);
  const contract = await contractOf();
  await fleet.serve(contract, [(await fleet.backend('one')).member]);
  await kill(fleet);
  await appendFile(journalPath(fleet.stateFile), '{"sequence":9,"route":"we');
  value(await fleet.driver.ensure());
  await fleet.serve(contract, [(await fleet.backend('two')).member]);
  await kill(fleet);
  value(await fleet.driver.ensure());
  assert.equal((await ask(contract.listen.port)).body, 'two');
});

test('F28: a state that cannot be written refuses the stage, and what was served is served on', async (t) => {
  const fleet = await rig(t);
  const contract = await contractOf();
  const one = await fleet.backend('one');
  const two = await fleet.backend('two');
  await fleet.serve(contract, [one.member]);
  // Holds for root too, whom modes do not stop: the temporary name is taken by a directory.
  await mkdir(`${fleet.stateFile}.next`);
  const staged = await fleet.driver.stage('web', contract, [two.member]);
  assert.equal(!staged.ok && staged.refusal.code, 'router-state-not-written');
  const removed = await fleet.driver.remove('web');
  assert.equal(!removed.ok && removed.refusal.code, 'router-state-not-written');
  assert.equal((await ask(contract.listen.port)).body, 'one');
  await rmdir(`${fleet.stateFile}.next`);
  await fleet.serve(contract, [two.member]);
  assert.equal((await ask(contract.listen.port)).body, 'two');
});

test('F26: a port that is taken refuses the stage, and everything else serves on', async (t) => {
  const fleet = await rig(t);
  const contract = await contractOf();
  const other = await contractOf({ name: 'other' });
  const one = await fleet.backend('one');
  const two = await fleet.backend('two');
  await fleet.serve(contract, [one.member]);
  await fleet.serve(other, [two.member], 'other');
  const port = await freePort();
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(port, '127.0.0.1', resolve));
  t.after(() => taken.close());
  const moved = { ...contract, listen: { host: '127.0.0.1', port } };
  const refused = await fleet.driver.stage('web', moved, [two.member]);
  assert.equal(!refused.ok && refused.refusal.code, 'route-listener-unavailable');
  const stolen = await fleet.driver.stage('web', { ...contract, listen: other.listen }, [one.member]);
  assert.equal(!stolen.ok && stolen.refusal.code, 'route-listener-unavailable');
  const foreign = await fleet.driver.stage('thief', contract, [one.member]);
  assert.equal(!foreign.ok && foreign.refusal.code, 'route-owned-by-another-target');
  const invalid = await fleet.driver.stage('web', { ...contract, holdMs: -1 }, [two.member]);
  assert.equal(!invalid.ok && invalid.refusal.code, 'router-request-invalid');
  assert.deepEqual([(await ask(contract.listen.port)).body, (await ask(other.listen.port)).body], ['one', 'two']);
});

test('a route moves to another port: the new one serves, the old one listens no more', async (t) => {
  const fleet = await rig(t);
  const contract = await contractOf();
  const one = await fleet.backend('one');
  await fleet.serve(contract, [one.member]);
  const moved = { ...contract, listen: { host: '127.0.0.1', port: await freePort() } };
  const staged = value(await fleet.driver.stage('web', moved, [one.member]));
  assert.equal((await ask(moved.listen.port)).status, 503);
  value(await fleet.driver.publish(staged));
  assert.equal((await ask(moved.listen.port)).body, 'one');
  await assert.rejects(ask(contract.listen.port), /ECONNREFUSED/);
});

test('F26: a port that was taken while the router was dead keeps its own route down, until it is free', async (t) => {
  const fleet = await rig(t);
  const contract = await contractOf();
  const other = await contractOf({ name: 'other' });
  await fleet.serve(contract, [(await fleet.backend('one')).member]);
  await fleet.serve(other, [(await fleet.backend('two')).member], 'other');
  await kill(fleet);
  const thief = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => thief.listen(contract.listen.port, '127.0.0.1', resolve));
  value(await fleet.driver.ensure());
  assert.equal((await ask(other.listen.port)).body, 'two');
  const read = await fleet.driver.read('web');
  assert.ok(read.kind === 'unknown' && /EADDRINUSE/.test(read.because));
  await new Promise((resolve) => thief.close(resolve));
  await eventually('it listens', async () => (await fleet.driver.read('web')).kind === 'seen');
  assert.equal((await ask(contract.listen.port)).body, 'one');
});

test('a removed route is gone for good, and never gets an old generation again', async (t) => {
  const fleet = await rig(t);
  const contract = await contractOf();
  const one = await fleet.backend('one');
  await fleet.serve(contract, [one.member]);
  await fleet.serve(contract, [one.member]);
  value(await fleet.driver.remove('web'));
  value(await fleet.driver.remove('web'));
  await assert.rejects(ask(contract.listen.port), /ECONNREFUSED/);
  await kill(fleet);
  value(await fleet.driver.ensure());
  assert.equal((await fleet.driver.read('web')).kind, 'absent');
  assert.equal(value(await fleet.driver.stage('web', contract, [one.member])).generation, 3);
});

test('one router for each fleet: a second start is refused while the first runs', async (t) => {
  const fleet = await rig(t);
  const pid = await fleet.pid();
  const { code, stderr } = await startByHand(fleet);
  assert.equal(code, 78);
  assert.match(stderr, /router-already-running/);
  assert.equal(await fleet.pid(), pid);
});

test('many starters at once get one router', async (t) => {
  const fleet = await rig(t, { start: false });
  const drivers = [fleet.driver, ...Array.from({ length: 4 }, () => fleet.another())];
  t.after(() => {
    for (const driver of drivers) driver.close();
  });
  const pids = (await Promise.all(drivers.map((driver) => driver.ensure()))).map((ensured) => value(ensured).pid);
  assert.equal(new Set(pids).size, 1);
});

test('the state and control files are their owner’s alone', async (t) => {
  const fleet = await rig(t);
  for (const path of [fleet.stateFile, journalPath(fleet.stateFile), join(fleet.directory, 'run', 'router.sock')]) {
    assert.equal((await stat(path)).mode & 0o077, 0, path);
  }
});

test('a router whose control socket was taken away, its directory too, is within reach again', async (t) => {
  const fleet = await rig(t);
  const pid = await fleet.pid();
  await rm(join(fleet.directory, 'run'), { recursive: true });
  const later = fleet.another();
  t.after(() => later.close());
  const found = value(await later.ensure());
  assert.equal(found.pid, pid, 'the same router');
  assert.equal((await stat(join(fleet.directory, 'run', 'router.sock'))).mode & 0o777, 0o600);
});
