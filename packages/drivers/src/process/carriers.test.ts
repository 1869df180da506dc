import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seen } from '@idunn/kernel';
import { carrierScan } from './carriers.ts';

/** A machine of processes, by pid: when each began and what it carries, or `unreadable`. */
function machine() {
  const processes = new Map<number, { startTime: string; carries: string | null }>();
  const read: number[] = [];
  const scan = carrierScan({
    processIds: () => [...processes.keys()],
    readStat: (pid) => seen({ state: 'S', parent: 1, startTime: processes.get(pid)?.startTime ?? '0' }),
    async readEnvironment(pid) {
      read.push(pid);
      const carries = processes.get(pid)?.carries ?? null;
      return carries === 'unreadable' ? carries : { value: carries };
    },
    ticksSinceBoot: () => 5_000n,
  });
  return {
    processes,
    /** Who carries it, and whose environment was read for the answer. */
    carriers: async (activation: string) => {
      read.length = 0;
      const found = (await scan()).get(activation) ?? [];
      return { pids: found.map(({ pid }) => pid), read: [...read] };
    },
  };
}

test('I1: what a settled process carries is read once; a young one is read again', async () => {
  const { processes, carriers } = machine();
  processes.set(1, { startTime: '10', carries: null });
  processes.set(2, { startTime: '100', carries: 'act-1' });
  processes.set(3, { startTime: '4500', carries: null });
  assert.deepEqual(await carriers('act-1'), { pids: [2], read: [1, 2, 3] });
  // A launcher becomes a program that carries it.
  processes.set(3, { startTime: '4500', carries: 'act-1' });
  assert.deepEqual(await carriers('act-1'), { pids: [2, 3], read: [3] });
});

test('F12: a recycled pid is another process, and one that could not be read is asked again', async () => {
  const { processes, carriers } = machine();
  processes.set(2, { startTime: '100', carries: 'act-1' });
  processes.set(4, { startTime: '100', carries: 'unreadable' });
  await carriers('act-1');
  processes.set(2, { startTime: '200', carries: null });
  processes.set(4, { startTime: '100', carries: 'act-1' });
  assert.deepEqual(await carriers('act-1'), { pids: [4], read: [2, 4] });
  processes.delete(4);
  await carriers('act-1');
  processes.set(4, { startTime: '100', carries: null });
  assert.deepEqual((await carriers('act-1')).pids, []);
});
