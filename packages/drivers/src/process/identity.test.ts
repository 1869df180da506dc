import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { systemClock } from '@idunn/kernel';
import { ownGroup, parseHierarchies } from './control-group.ts';
import { identify, ownStandpoint, signal, vital } from './identity.ts';
import { hasOtherThreads, parseStat } from './proc.ts';
import { sharedRead } from './shared-read.ts';

const from = ownStandpoint(systemClock().bootId);

function own() {
  const identity = identify(process.pid, null, from);
  assert.ok(identity.kind === 'seen');
  return identity.value;
}

test('a command’s name may hold anything without moving the fields', () => {
  const rest = `S 12 ${Array.from({ length: 17 }, () => '0').join(' ')} 4711 0`;
  assert.deepEqual(parseStat(`77 (a) b) (c) ${rest}`), { state: 'S', parent: 12, startTime: '4711' });
  assert.equal(parseStat('77 (a'), null);
});

test('F12: an identity is pid, start time, boot and namespace, each of them', () => {
  assert.equal(vital(own(), from).kind, 'seen');
  assert.equal(vital({ ...own(), startTime: '1' }, from).kind, 'absent');
  assert.equal(vital({ ...own(), bootId: 'another boot' }, from).kind, 'absent');
  assert.equal(vital({ ...own(), pidNamespace: 'pid:[1]' }, from).kind, 'unknown');
  assert.equal(vital({ ...own(), pid: 2 ** 22 + 1 }, from).kind, 'absent');
});

test('F12: another identity under the same pid is never signalled; the right one is', async () => {
  const child = spawn('/bin/sleep', ['1000'], { stdio: 'ignore' });
  const exited = once(child, 'exit');
  const identity = identify(child.pid ?? 0, null, from);
  assert.ok(identity.kind === 'seen');
  signal({ ...identity.value, startTime: '1' }, 'SIGKILL', from);
  signal({ ...identity.value, bootId: 'another boot' }, 'SIGKILL', from);
  assert.equal(vital(identity.value, from).kind, 'seen');
  signal(identity.value, 'SIGTERM', from);
  assert.deepEqual(await exited, [null, 'SIGTERM']);
  assert.equal(vital(identity.value, from).kind, 'absent');
});

test('threads beside the leader are seen', () => {
  assert.equal(hasOtherThreads(process.pid), true);
});

test('hierarchies and own groups are read as the kernel writes them', () => {
  const hierarchies = parseHierarchies(`31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct
41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw`);
  const named = (name: string) => hierarchies.find((hierarchy) => hierarchy.name === name);
  assert.equal(named('unified')?.mount, '/sys/fs/cgroup/unified');
  assert.equal(named('cpuacct')?.mount, '/sys/fs/cgroup/cpu,cpuacct');
  const text = '2:cpu,cpuacct:/a\n0::/user.slice/b:c\n';
  assert.equal(ownGroup({ name: 'cpuacct', mount: '' }, text), '/a');
  assert.equal(ownGroup({ name: 'unified', mount: '' }, text), '/user.slice/b:c');
  assert.equal(ownGroup({ name: 'memory', mount: '' }, text), null);
});

test('a shared read is never older than the question', async () => {
  const reads: PromiseWithResolvers<number>[] = [];
  const read = sharedRead(() => {
    const next = Promise.withResolvers<number>();
    reads.push(next);
    return next.promise;
  });
  const first = read();
  const [second, third] = [read(), read()];
  reads[0]?.resolve(1);
  assert.equal(await first, 1);
  await new Promise((resolve) => setImmediate(resolve));
  reads[1]?.resolve(2);
  assert.deepEqual(await Promise.all([second, third]), [2, 2]);
  assert.equal(reads.length, 2);
});
