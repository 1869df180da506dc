import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { randomIds, systemClock, systemTimers } from '@idunn/kernel';
import { FakeTime } from '@idunn/kernel/testing';
import { memberAt } from '../testing/backend.ts';
import { ask } from '../testing/client.ts';
import { contractOf, eventually, freePort, gone, rig, value } from '../testing/rig.ts';
import { createRouterDriver } from './driver.ts';

test('F5, F30: a real request through the stable endpoint, and the member that the router saw answer it', async (t) => {
  const { driver, backend, serve } = await rig(t);
  const contract = await contractOf();
  const one = await backend('one', (request, response) => {
    if (request.url === '/health') response.writeHead(204).end();
    else response.writeHead(500).end(`no database: hunter2 ${'.'.repeat(10_000)}`);
  });
  assert.deepEqual(await driver.observe('web', '/health'), { kind: 'absent' });
  await serve(contract, [one.member]);
  const { incarnation } = one.member;
  const good = await driver.observe('web', '/health');
  assert.deepEqual(good, { kind: 'seen', value: { incarnation, status: 204, body: null } });
  const broken = await driver.observe('web', '/broken');
  assert.ok(broken.kind === 'seen' && broken.value.status === 500);
  assert.match(broken.value.body ?? '', /^no database: \[secret\] \.+$/);
  assert.ok((broken.value.body ?? '').length < 4_096);
  assert.ok(one.seen.every(({ headers }) => headers['idunn-observe'] === undefined));
  await serve(contract, [memberAt('dead', await freePort())]);
  assert.equal((await driver.observe('web', '/health')).kind, 'unknown');
});

test('F8: after an answer that was lost, the route is read, and the repeat is harmless', async (t) => {
  const { driver, another, backend, serve } = await rig(t);
  const contract = await contractOf();
  const one = await backend('one');
  const two = await backend('two');
  await serve(contract, [one.member]);
  const staged = value(await driver.stage('web', contract, [two.member]));
  const cut = another();
  value(await cut.ensure());
  const publishing = cut.publish(staged);
  // The request is on its way when the connection ends.
  await new Promise((resolve) => setImmediate(resolve));
  cut.close();
  const lost = await publishing;
  assert.equal(!lost.ok && lost.refusal.code, 'router-answer-lost');
  value(await driver.publish(staged));
  value(await driver.publish(staged));
  const state = await driver.read('web');
  assert.deepEqual(state.kind === 'seen' && [state.value.generation, state.value.members], [2, [two.member]]);
  await serve(contract, [one.member]);
  const stale = await driver.publish(staged);
  assert.equal(!stale.ok && stale.refusal.code, 'route-stage-unknown');
  assert.equal((await ask(contract.listen.port)).body, 'one');
});

test('staging the same again gives the same stage; another takes its place', async (t) => {
  const { driver, backend } = await rig(t);
  const contract = await contractOf();
  const one = await backend('one');
  const first = value(await driver.stage('web', contract, [one.member]));
  assert.deepEqual(value(await driver.stage('web', contract, [one.member])), first);
  const second = value(await driver.stage('web', contract, []));
  assert.notEqual(second.stage, first.stage);
  const superseded = await driver.publish(first);
  assert.equal(!superseded.ok && superseded.refusal.code, 'route-stage-unknown');
  assert.deepEqual(await driver.read('web'), { kind: 'absent' });
});

test('I10: while the router does not answer, evidence is unknown and changes are refused', async (t) => {
  const { driver, directory } = await rig(t, { start: false });
  const lonely = createRouterDriver({
    fleet: 'test-fleet',
    controlSocket: join(directory, 'none.sock'),
    stateFile: join(directory, 'none.json'),
    logFile: join(directory, 'none.log'),
    program: ['/nonexistent/router'],
    redact: (_, text) => Promise.resolve(text.replaceAll('hunter2', '[secret]')),
    clock: systemClock(),
    timers: systemTimers,
    ids: randomIds,
  });
  assert.equal((await lonely.read('web')).kind, 'unknown');
  assert.equal((await lonely.open('web', memberAt('one', 1).incarnation)).kind, 'unknown');
  assert.equal((await lonely.observe('web', '/')).kind, 'unknown');
  const held = await lonely.hold('web', 1_000);
  assert.equal(!held.ok && held.refusal.code, 'router-unreachable');
  const started = await lonely.ensure();
  assert.equal(!started.ok && started.refusal.code, 'router-start-failed');
  lonely.close();
  value(await driver.ensure());
});

test('the router of another fleet is refused', async (t) => {
  const { another } = await rig(t);
  const foreign = another('other-fleet');
  const ensured = await foreign.ensure();
  assert.equal(!ensured.ok && ensured.refusal.code, 'router-fleet-differs');
  foreign.close();
});

test('the router outlives its driver; the next one finds it, and one of another build replaces it', async (t) => {
  const { driver, another, backend, serve, pid } = await rig(t);
  const contract = await contractOf();
  await serve(contract, [(await backend('one')).member]);
  const before = await pid();
  driver.close();
  assert.equal((await ask(contract.listen.port)).body, 'one');
  const next = another();
  assert.deepEqual([value(await next.ensure()).pid, value(await next.ensure()).outdated], [before, false]);
  next.close();
  const upgraded = another('test-fleet', { build: 'sha256:newer' });
  t.after(() => upgraded.close());
  const { pid: after, outdated } = value(await upgraded.ensure());
  assert.equal(outdated, false);
  assert.notEqual(after, before);
  await gone(before);
  assert.equal((await ask(contract.listen.port)).body, 'one');
  upgraded.close();
});

test('a router that hangs is looked at without a long wait, and no other is started beside it', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'idunn-mute-'));
  t.after(() => rm(directory, { recursive: true }));
  const controlSocket = join(directory, 'router.sock');
  const time = new FakeTime();
  const sockets: Socket[] = [];
  const greeted = Promise.withResolvers<void>();
  const mute = createServer((socket) => {
    sockets.push(socket);
    socket.on('data', () => greeted.resolve());
  }).listen(controlSocket);
  t.after(() => mute.close());
  await once(mute, 'listening');
  const driver = createRouterDriver({
    program: ['/nonexistent/router'],
    fleet: 'test-fleet',
    controlSocket,
    stateFile: join(directory, 'router.json'),
    logFile: join(directory, 'router.log'),
    redact: (_, text) => Promise.resolve(text),
    clock: time.clock,
    timers: time,
    ids: randomIds,
  });
  const looked = driver.look();
  assert.deepEqual(driver.link.standing(), { kind: 'trying' });
  await greeted.promise;
  time.pass(2_000);
  const answer = await looked;
  assert.ok(!answer.ok && answer.refusal.code === 'router-unreachable');
  while (driver.link.standing().kind === 'trying') {
    await new Promise(setImmediate);
    time.pass(500);
  }
  assert.match(JSON.stringify(driver.link.standing()), /down.*did not answer hello within 2000 ms/);
  assert.match(JSON.stringify(driver.link.standing()), new RegExp(`It runs as process ${process.pid}\\.`));
  assert.ok(sockets.length > 2, `it was asked ${sockets.length} times`);
  driver.close();
  for (const socket of sockets) socket.destroy();
});

test('the router outlives a daemon that is killed with its whole process group', async (t) => {
  const { driver, directory } = await rig(t, { start: false });
  const starter = spawn(
    process.execPath,
    ['--conditions=source', fileURLToPath(new URL('../testing/starter.ts', import.meta.url)), directory],
    { detached: true, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const [line] = (await once(starter.stdout, 'data')) as [Buffer];
  const { pid: group } = starter;
  assert.ok(group !== undefined);
  process.kill(-group, 'SIGKILL');
  await once(starter, 'exit');
  assert.equal(value(await driver.ensure()).pid, Number(line.toString()));
});

test('stop lets open requests end', async (t) => {
  const { driver, backend, serve, pid } = await rig(t);
  const contract = await contractOf();
  let finish: () => void = () => undefined;
  const one = await backend('one', (_request, response) => {
    finish = () => response.end('finished');
  });
  await serve(contract, [one.member]);
  const reply = ask(contract.listen.port);
  await eventually('it arrived', () => one.seen.length > 0);
  const router = await pid();
  value(await driver.stop());
  finish();
  assert.equal((await reply).body, 'finished');
  await gone(router);
});

test('a control connection that speaks no protocol, or speaks before hello, gets nothing', async (t) => {
  const { directory, driver } = await rig(t);
  const path = join(directory, 'run', 'router.sock');
  const talk = (text: string): Promise<string> =>
    new Promise((resolve) => {
      let got = '';
      const socket = connect(path, () => socket.write(text));
      socket.setEncoding('utf8');
      socket.on('data', (chunk: string) => {
        got += chunk;
        if (got.endsWith('\n')) socket.destroy();
      });
      socket.on('close', () => resolve(got));
      socket.on('error', () => undefined);
    });
  assert.equal(await talk('garbage\n'), '');
  assert.match(await talk('{"id":1,"op":"stop","ask":{}}\n'), /router-request-invalid/);
  assert.match(
    await talk('{"id":1,"op":"hello","ask":{"protocol":1,"fleet":"test-fleet"}}\n'),
    /router-protocol-differs/,
  );
  assert.equal((await driver.metrics()).kind, 'seen');
});
