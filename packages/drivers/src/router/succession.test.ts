import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect as connectSecurely } from 'node:tls';
import type { RouterDriver } from './driver/driver.ts';
import { routerProgram } from './driver/program.ts';
import { FOR_A, FOR_B, type TestPair } from './testing/certificates.ts';
import { ask } from './testing/client.ts';
import { contractOf, eventually, gone, type Rig, rig, value } from './testing/rig.ts';
import { startStreamBackend } from './testing/tcp-backend.ts';

/** A driver of another build of Idunn, which lets go of the router when the test ends. */
function successor(
  { another }: Rig,
  t: { after(end: () => void): void },
  {
    build = 'sha256:next',
    program = routerProgram(),
  }: { build?: string; program?: readonly [string, ...string[]] } = {},
): RouterDriver {
  const driver = another('test-fleet', { build, program });
  t.after(() => driver.close());
  return driver;
}

/** Clients that ask again and again, each time on a connection of its own. */
function hammer(port: number, clients: number) {
  const stop = new AbortController();
  const failed: string[] = [];
  let answered = 0;
  const loops = Array.from({ length: clients }, async () => {
    while (!stop.signal.aborted) {
      try {
        const { status, body } = await ask(port);
        if (status === 200) answered++;
        else failed.push(`${status} ${body}`);
      } catch (error) {
        failed.push(String(error));
      }
    }
  });
  return {
    answered: () => answered,
    async end(): Promise<readonly string[]> {
      stop.abort();
      await Promise.all(loops);
      return failed;
    },
  };
}

test('F26: a router of another build takes over the sockets; nothing is refused in ten replacements', async (t) => {
  const fleet = await rig(t);
  const contract = await contractOf();
  const other = await contractOf({ name: 'other' });
  const one = await fleet.backend('one');
  await fleet.serve(contract, [one.member]);
  await fleet.serve(other, [(await fleet.backend('two')).member], 'other');
  const load = hammer(contract.listen.port, 4);
  const pids = new Set([await fleet.pid()]);
  fleet.driver.close();
  for (let round = 1; round <= 10; round++) {
    const driver = successor(fleet, t, { build: `sha256:build-${round}` });
    const status = value(await driver.ensure());
    assert.equal(status.outdated, false);
    assert.equal(status.build, `sha256:build-${round}`);
    assert.ok(!pids.has(status.pid), 'another process');
    pids.add(status.pid);
    const before = load.answered();
    assert.equal((await ask(other.listen.port)).body, 'two');
    while (load.answered() < before + 20) await ask(contract.listen.port);
    driver.close();
  }
  assert.deepEqual(await load.end(), []);
  assert.ok(load.answered() > 200, `${load.answered()} answers`);
  // What was served is known to the last of them, and it can be changed.
  value(await fleet.driver.ensure());
  await fleet.serve(contract, [(await fleet.backend('three')).member]);
  assert.equal((await ask(contract.listen.port)).body, 'three');
  for (const pid of pids) if (pid !== (await fleet.pid())) await gone(pid);
});

/** The router's program, to which something happens first. */
function programWith(code: string): readonly [string, ...string[]] {
  const [file, ...words] = routerProgram();
  return [file, '--import', `data:text/javascript,${encodeURIComponent(code)}`, ...words];
}

const onGo = (code: string): string => `process.on('message', ({ kind }) => { if (kind === 'go') ${code} })`;
/** Only as a successor: a router that the test itself starts has the test for its parent. */
const KILL_PREDECESSOR = "process.argv.includes('--succeed') && process.kill(process.ppid, 'SIGKILL')";

for (const [when, code] of [
  ['at its start', 'process.exit(3)'],
  ['when everything was let go for it', onGo('process.exit(3)')],
  ['by a signal, in the middle', onGo("process.kill(process.pid, 'SIGKILL')")],
] as const) {
  test(`F9: a successor that dies ${when} changes nothing; the router goes on, and can be changed`, async (t) => {
    const fleet = await rig(t);
    const contract = await contractOf();
    await fleet.serve(contract, [(await fleet.backend('one')).member]);
    const pid = await fleet.pid();
    const load = hammer(contract.listen.port, 2);
    const status = value(await successor(fleet, t, { program: programWith(code) }).ensure());
    assert.deepEqual([status.pid, status.outdated], [pid, true]);
    assert.deepEqual(await load.end(), []);
    await fleet.serve(contract, [(await fleet.backend('two')).member]);
    assert.equal((await ask(contract.listen.port)).body, 'two');
    // Within reach of who comes later too, and its state is still its own.
    const later = fleet.another();
    t.after(() => later.close());
    assert.equal(value(await later.ensure()).pid, pid);
  });
}

for (const [when, code] of [
  ['before it let go', KILL_PREDECESSOR],
  ['when it had just let go', onGo(KILL_PREDECESSOR)],
] as const) {
  test(`F9: a router that dies ${when} leaves one that serves the last snapshot`, async (t) => {
    const fleet = await rig(t);
    const contract = await contractOf();
    await fleet.serve(contract, [(await fleet.backend('one')).member]);
    const pid = await fleet.pid();
    fleet.driver.close();
    const driver = successor(fleet, t, { program: programWith(code) });
    await driver.ensure();
    await gone(pid);
    await eventually('one router serves', async () => (await driver.ensure()).ok);
    await eventually('it listens', async () => (await driver.read('web')).kind === 'seen');
    assert.equal((await ask(contract.listen.port)).body, 'one');
    driver.close();
  });
}

test('a replaced router ends what it has: an answer under way, a connection that stays open, a stream', async (t) => {
  const fleet = await rig(t);
  const answer = Promise.withResolvers<void>();
  const contract = await contractOf();
  const slow = await fleet.backend('slow', ({ url }, response) => {
    if (url === '/slow') {
      response.write('begun ');
      void answer.promise.then(() => response.end('ended'));
    } else response.end('quick');
  });
  await fleet.serve(contract, [slow.member]);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  assert.equal((await ask(contract.listen.port, { agent })).body, 'quick');
  const before = await fleet.pid();
  const pending = ask(contract.listen.port, { path: '/slow' });
  await eventually('it is there', () => slow.seen.some(({ url }) => url === '/slow'));
  fleet.driver.close();
  const driver = successor(fleet, t);
  assert.notEqual(value(await driver.ensure()).pid, before);
  const { body, headers } = await ask(contract.listen.port, { agent });
  assert.deepEqual([body, headers.connection], ['quick', 'close'], 'answered by the old one, with notice');
  answer.resolve();
  assert.equal((await pending).body, 'begun ended');
  await gone(before);
  driver.close();
});

test('while a route holds or drains, its router is not replaced: only its memory knows of it', async (t) => {
  const fleet = await rig(t);
  const contract = await contractOf();
  await fleet.serve(contract, [(await fleet.backend('one')).member]);
  const pid = await fleet.pid();
  value(await fleet.driver.hold('web', 60_000));
  const driver = successor(fleet, t);
  const kept = value(await driver.ensure());
  assert.deepEqual([kept.pid, kept.outdated], [pid, true]);
  fleet.driver.close();
  value(await driver.release('web'));
  const replaced = value(await driver.ensure());
  assert.notEqual(replaced.pid, pid);
  assert.equal(replaced.outdated, false);
  driver.close();
});

test('names and certificates of a shared address, and TCP streams, go through a replacement', async (t) => {
  const fleet = await rig(t);
  const files = await mkdtemp(join(tmpdir(), 'idunn-succession-'));
  t.after(() => rm(files, { recursive: true, force: true }));
  const { listen } = await contractOf();
  const pairOf = async (name: string, { certificate, key }: TestPair) => {
    const at = { certificate: join(files, `${name}.pem`), key: join(files, `${name}.key`) };
    await writeFile(at.certificate, certificate);
    await writeFile(at.key, key, { mode: 0o600 });
    return { certificates: [at] };
  };
  const names = ['a.example.org', 'b.example.org'] as const;
  for (const [name, pair] of [
    [names[0], FOR_A],
    [names[1], FOR_B],
  ] as const) {
    const contract = await contractOf({ name, listen, names: [name], tls: await pairOf(name, pair) });
    await fleet.serve(contract, [(await fleet.backend(name)).member], name);
  }
  const tcp = await contractOf({ name: 'tcp', protocol: 'tcp' });
  const echo = await startStreamBackend(t, 'echo', (socket) => socket.pipe(socket));
  await fleet.serve(tcp, [echo.member], 'tcp');
  const talk = async (stream: Socket, word: string): Promise<string> => {
    stream.write(word);
    const [said] = (await once(stream, 'data')) as [Buffer];
    return said.toString();
  };
  const stream = connect(tcp.listen.port, '127.0.0.1');
  assert.equal(await talk(stream, 'before'), 'before');
  const told = once(stream, 'end');
  const stop = new AbortController();
  const wrong: string[] = [];
  let greeted = 0;
  const loop = async (name: string): Promise<void> => {
    while (!stop.signal.aborted) {
      const socket = connectSecurely({
        host: '127.0.0.1',
        port: listen.port,
        servername: name,
        rejectUnauthorized: false,
      });
      try {
        await once(socket, 'secureConnect');
        socket.write(`GET / HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`);
        const said = Buffer.concat((await socket.toArray()) as Buffer[]).toString();
        if (!said.startsWith('HTTP/1.1 200') || !said.includes(name)) wrong.push(said);
        greeted++;
      } catch (error) {
        wrong.push(String(error));
      }
    }
  };
  const loops = names.map(loop);
  const before = await fleet.pid();
  fleet.driver.close();
  const driver = successor(fleet, t);
  assert.notEqual(value(await driver.ensure()).pid, before);
  const sofar = greeted;
  await eventually('more were greeted', () => greeted > sofar + 10);
  stop.abort();
  await Promise.all(loops);
  assert.deepEqual(wrong.slice(0, 3), []);
  await told; // With the notice of a drain.
  stream.destroy();
  const again = connect(tcp.listen.port, '127.0.0.1');
  assert.equal(await talk(again, 'after'), 'after');
  again.destroy();
  await gone(before);
  driver.close();
});
