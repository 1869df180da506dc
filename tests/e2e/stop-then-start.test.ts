import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Status } from '@idunn/client';
import { addAttended } from './lib/attended.ts';
import { makeFleet, refusalOf } from './lib/fleet.ts';
import { json } from './lib/world.ts';

/** A web server on a port of its own choosing: two of it never stand side by side. It knows nothing of Idunn. */
const server = (version: string, port: number, atStart = ''): string => `import { createServer } from 'node:http';
${atStart}
const answer = JSON.stringify({ version: '${version}', pid: process.pid });
createServer((_, response) => response.end(answer)).listen(${port}, '127.0.0.1');
`;

interface Answer {
  readonly version: string;
  readonly pid: number;
}

test('a program that binds one fixed port, and cannot overlap', async (t) => {
  const fleet = await makeFleet(t);
  await fleet.daemon();
  const stable = Number(new URL(fleet.url).port) + 17;
  const fixed = stable + 1;
  const url = `http://127.0.0.1:${stable}`;
  const write = (version: string, atStart?: string) =>
    fleet.commit({ 'camera/server.mjs': server(version, fixed, atStart) });
  await addAttended(fleet, {
    target: 'camera',
    files: { 'server.mjs': server('1', fixed) },
    service: 'path = "server.mjs"\ninterpreter = "node"\nprotocol = "http"\nrouted = true',
    health: 'kind = "http"\npath = "/"\ninterval_ms = 200\ntimeout_ms = 1000\nfreshness_ms = 5000',
    interpreter: { name: 'node', path: process.execPath },
    port: stable,
    endpoint: `from_port = ${fixed}\nto_port = ${fixed}`,
    binding: 'strategy = "stop-then-start"\nreason = "it owns the camera, and one port"\n',
  });

  await t.test('the plan says so, and why', async () => {
    const shown = await fleet.idunn('plan', 'camera');
    assert.match(shown.out, /stop-then-start \(it owns the camera, and one port\)/);
  });

  await t.test('three deployments follow one another on the one port', async () => {
    const pids = new Set<number>();
    for (const version of ['1', '2', '3']) {
      await write(version);
      const { code, outcome } = await fleet.up('camera');
      assert.equal(code, 0, JSON.stringify(outcome));
      const answer = await json<Answer>(url, '/');
      assert.equal(answer.version, version);
      for (const pid of pids) assert.throws(() => process.kill(pid, 0), /ESRCH/);
      pids.add(answer.pid);
    }
    assert.equal(pids.size, 3);
    const seen = JSON.parse((await fleet.idunn('status', 'camera', '--json')).out) as Status;
    assert.deepEqual(seen.targets.find(({ target }) => target === 'camera')?.rollout, {
      strategy: 'stop-then-start',
      reason: 'it owns the camera, and one port',
    });
  });

  await t.test(
    'F16, F18: a build that ends at its start gives back to the one before, told as rolled back',
    async () => {
      await write('4', "console.log('no camera here');\nprocess.exit(3);");
      const { code, outcome } = await fleet.up('camera');
      assert.equal(code, 6, JSON.stringify(outcome));
      assert.equal(outcome.outcome, 'rolled-back');
      assert.equal(refusalOf(outcome).code, 'candidate-exited');
      assert.match(JSON.stringify(refusalOf(outcome).detail), /no camera here/);
      assert.equal((await json<Answer>(url, '/')).version, '3');
    },
  );
});
