import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChannelEvent, ChannelPort, WorkloadHandle, WorkloadPort } from '@idunn/authority';
import { absent, type Evidence, ok, refusal, refused, seen, unknown } from '@idunn/kernel';
import { selfConnection } from './self-connection.ts';

const HANDLE: WorkloadHandle = {
  version: 1,
  driver: 'process',
  target: 'observer',
  activation: 'act-1',
  identity: {
    kind: 'linux-process',
    pid: 11,
    startTime: '110',
    bootId: 'boot-1',
    controlGroup: null,
    pidNamespace: 'pid:[1]',
  },
};

/** The connection over a process and a channel that a test speaks for. */
function kept() {
  const world = {
    find: (): Promise<Evidence<WorkloadHandle>> => Promise.resolve(seen(HANDLE)),
    opens: true,
    asked: 0,
    waits: [] as { ms: number; fire: () => void }[],
    tell: (_event: ChannelEvent): void => undefined,
  };
  const channel: Pick<ChannelPort, 'open' | 'subscribe'> = {
    open: () => Promise.resolve(world.opens ? ok('open') : refused(refusal('channel-closed', 'Not now.'))),
    subscribe: (listener) => {
      world.tell = listener;
    },
  };
  const workload: Pick<WorkloadPort, 'find'> = {
    find: () => {
      world.asked += 1;
      return world.find();
    },
  };
  const timers = { after: (ms: number, fire: () => void) => (world.waits.push({ ms, fire }), () => undefined) };
  const connection = selfConnection({
    target: 'observer',
    channel: channel as ChannelPort,
    workload: workload as WorkloadPort,
    timers,
  });
  return { world, connection };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Lets the newest wait pass. */
async function pass(world: ReturnType<typeof kept>['world']): Promise<void> {
  world.waits.at(-1)?.fire();
  await settled();
}

test('I10: what cannot be seen, or throws, is asked for again with a growing wait', async () => {
  const { world, connection } = kept();
  world.find = () => Promise.resolve(unknown('its ticket cannot be read'));
  connection.hold('act-1');
  await settled();
  world.find = () => Promise.reject(new Error('I/O error'));
  await pass(world);
  world.find = () => Promise.resolve(seen(HANDLE));
  world.opens = false;
  await pass(world);
  world.opens = true;
  await pass(world);
  assert.deepEqual(
    world.waits.map(({ ms }) => ms),
    [50, 100, 200],
  );
});

test('a connection that closes is opened again; a process that is gone is let go', async () => {
  const { world, connection } = kept();
  connection.hold('act-1');
  connection.hold('act-1');
  await settled();
  assert.deepEqual([world.asked, world.waits.length], [1, 0]);
  world.tell({ kind: 'closed', target: 'observer', activation: 'act-1' });
  await pass(world);
  assert.deepEqual([world.asked, world.waits.length], [2, 1]);
  world.find = () => Promise.resolve(absent);
  world.tell({ kind: 'closed', target: 'observer', activation: 'act-1' });
  await pass(world);
  world.tell({ kind: 'closed', target: 'observer', activation: 'act-1' });
  assert.equal(world.waits.length, 2, 'nobody waits for one that is gone');
});
