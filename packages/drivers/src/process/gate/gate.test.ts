import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, readlinkSync, unlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { WorkloadHandle } from '@idunn/authority';
import { digestBytes, digestJson } from '@idunn/kernel';
import type { LaunchContract } from '@idunn/release';
import { type ActivationFiles, activationFiles } from '../activation-directory.ts';
import { FileDigests } from '../file-digests.ts';
import { ownStandpoint } from '../identity.ts';
import { observeProcess } from '../observe.ts';
import { codeOf, must, RELEASE } from '../testing/bench.ts';
import { logged } from '../testing/logs.ts';
import { GatedBench } from './testing/gated-bench.ts';

const NODE = digestBytes(readFileSync(process.execPath));

const filesOf = (bench: GatedBench, { activation }: WorkloadHandle): ActivationFiles =>
  activationFiles(bench.options.roots.runtime, activation);

/** A launcher of `polite` that listens at its gate, and its prepared lease file. */
async function waiting(t: TestContext, more: Partial<LaunchContract> = {}) {
  const bench = new GatedBench(t);
  const handle = await bench.startGated(bench.launch('polite', more));
  return { bench, handle, files: filesOf(bench, handle) };
}

const runs = async (bench: GatedBench, { activation }: WorkloadHandle): Promise<number> =>
  (await bench.driver.logTail('game', activation, 100)).filter((line) => line.startsWith('up')).length;

test('I2: a launcher waits as itself; after its grant the same process is the program, and only that', async (t) => {
  const { bench, handle, files } = await waiting(t, {
    args: [{ literal: 'one' }],
    environment: { COLOUR: { literal: 'blue' } },
  });
  const before = await bench.driver.observe(handle, RELEASE);
  assert.ok(before.kind === 'seen');
  assert.equal(before.value.gate, 'waiting');
  assert.equal(before.value.executable, NODE);
  assert.notEqual(before.value.argv, handle.argv);
  const launcher = new URL('./launcher.ts', import.meta.url).pathname;
  assert.equal(before.value.entry?.digest, digestBytes(readFileSync(launcher)));

  await bench.grant(handle, 1);
  assert.deepEqual(await bench.driver.openGate(handle, { epoch: 1 }), { ok: true, value: 'open' });
  const after = await bench.driver.observe(handle, RELEASE);
  assert.deepEqual(after, {
    kind: 'seen',
    value: {
      identity: before.value.identity,
      executable: NODE,
      argv: digestJson([process.execPath, bench.file('polite.mjs'), 'one']),
      entry: after.kind === 'seen' ? after.value.entry : null,
    },
  });
  assert.equal(after.kind === 'seen' && after.value.entry?.digest, digestBytes(readFileSync(bench.file('polite.mjs'))));
  assert.equal(after.kind === 'seen' && after.value.argv, handle.argv);
  await logged(bench.driver.logPath('game', handle.activation), /^up one\n$/);
  assert.deepEqual(await bench.driver.find('game', handle.activation), { kind: 'seen', value: handle });
  await bench.driver.stop(handle, 20_000);
  await bench.driver.retire('game', handle.activation);
  assert.equal(existsSync(files.directory), false);
});

/** Where a descriptor leads; nowhere, if it was closed since it was listed. */
function openAt(pid: number, name: string): readonly string[] {
  try {
    return [readlinkSync(`/proc/${pid}/fd/${name}`)];
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

/** What a program gets from whoever started it. */
function inherited(pid: number) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const limits = readFileSync(`/proc/${pid}/limits`, 'utf8');
  const descriptors = readdirSync(`/proc/${pid}/fd`)
    .flatMap((name) => openAt(pid, name))
    .map((link) => link.replace(/act-\w+/, 'act').replace(/\/(a|own)\/\w+/, '/$1/x'))
    .toSorted();
  const environment = readFileSync(`/proc/${pid}/environ`, 'utf8')
    .split('\0')
    .map((word) => word.replace(/act-\w+/, 'act').replace(/\/(a|own)\/\w+/, '/$1/x'))
    .toSorted();
  return {
    signals: status.match(/^(Sig(Blk|Ign|Cgt)|Umask|Groups|CapEff|NoNewPrivs).*$/gm),
    limits,
    descriptors,
    environment,
    cwd: readlinkSync(`/proc/${pid}/cwd`),
    session: readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ').slice(4, 8).map(Number).slice(1, 2)[0] === pid,
  };
}

test('a program behind a gate inherits what it would without one, and nothing of its launcher', async (t) => {
  const bench = new GatedBench(t);
  const limits = { memoryBytes: null, processes: null, openFiles: 123, logBytes: 1_000, logFiles: 2 };
  const plain = await bench.start(bench.sleep({ limits }));
  const gated = await bench.startGated(bench.sleep({ limits }));
  await bench.grant(gated, 1);
  must(await bench.driver.openGate(gated, { epoch: 1 }));
  // It has just begun: its loader may still have a library open.
  while (inherited(gated.identity.pid).descriptors.some((link) => link.includes('.so'))) await setImmediate();
  assert.deepEqual(inherited(gated.identity.pid), inherited(plain.identity.pid));
  assert.match(readFileSync(`/proc/${gated.identity.pid}/limits`, 'utf8'), /Max open files +123 +123 /);
});

test('I1: a gate that is opened twice runs the program once', async (t) => {
  const { bench, handle } = await waiting(t);
  await bench.grant(handle, 1);
  const answers = await Promise.all(Array.from({ length: 4 }, () => bench.driver.openGate(handle, { epoch: 1 })));
  assert.deepEqual(answers.map(codeOf), ['ok', 'ok', 'ok', 'ok']);
  must(await bench.driver.openGate(handle, { epoch: 1 }));
  await logged(bench.driver.logPath('game', handle.activation), /up/);
  assert.equal(await runs(bench, handle), 1);
  assert.equal(codeOf(await bench.driver.openGate(handle, { epoch: 2 })), 'gate-opened-otherwise');
});

test('I5: a grant of another epoch or activation opens nothing, and the right one still does', async (t) => {
  const { bench, handle } = await waiting(t);
  assert.equal(codeOf(await bench.driver.openGate(handle, { epoch: 1 })), 'gate-stays-closed', 'nobody is named');
  const other = await bench.startGated(bench.launch('polite'));
  await bench.grant(other, 1);
  assert.equal(codeOf(await bench.driver.openGate(handle, { epoch: 1 })), 'gate-stays-closed', 'the other is named');
  await bench.grant(handle, 2);
  const wrong = await bench.driver.openGate(handle, { epoch: 1 });
  assert.match(wrong.ok ? '' : wrong.refusal.reason, /names act-\w+ at epoch 2/);
  const observed = await bench.driver.observe(handle, RELEASE);
  assert.equal(observed.kind === 'seen' && observed.value.gate, 'waiting');
  must(await bench.driver.openGate(handle, { epoch: 2 }));
});

test('I1: a launcher that was stopped when its grant came reads the row once it goes on, and not before', async (t) => {
  const { bench, handle } = await waiting(t);
  await bench.grant(handle, 1);
  process.kill(handle.identity.pid, 'SIGSTOP');
  const opening = bench.driver.openGate(handle, { epoch: 1 });
  const other = await bench.startGated(bench.launch('polite'));
  await bench.grant(other, 2);
  process.kill(handle.identity.pid, 'SIGCONT');
  const opened = await opening;
  assert.match(opened.ok ? 'open' : opened.refusal.reason, /names act-\w+ at epoch 2/);
  assert.equal(await runs(bench, handle), 0);
});

test('F28: a launcher whose lease row cannot be read goes on waiting', async (t) => {
  const { bench, handle } = await waiting(t);
  await bench.grant(handle, 1);
  const whole = bench.spoilLease();
  assert.equal(codeOf(await bench.driver.openGate(handle, { epoch: 1 })), 'gate-stays-closed');
  whole();
  must(await bench.driver.openGate(handle, { epoch: 1 }));
});

test('I6: a launcher whose daemon was killed goes on waiting; the next one finds it and opens its gate', async (t) => {
  const bench = new GatedBench(t);
  const handle = await bench.startGatedAndDie(bench.launch('polite'));
  const later = new GatedBench(t, { ...bench.options, repairMs: 1e6 });
  assert.deepEqual(await later.driver.find('game', handle.activation), { kind: 'seen', value: handle });
  const observed = await later.driver.observe(handle, RELEASE);
  assert.equal(observed.kind === 'seen' && observed.value.gate, 'waiting');
  later.driver.watch(handle);
  await bench.grant(handle, 1);
  must(await later.driver.openGate(handle, { epoch: 1 }));
  const told = later.death(handle.activation);
  process.kill(handle.identity.pid, 'SIGKILL');
  assert.equal((await told).kind, 'died', 'the fifo went through the launcher to the program');
});

test('I6: a grant whose daemon died before the answer is found open by the next one', async (t) => {
  const { bench, handle } = await waiting(t);
  await bench.grant(handle, 1);
  await bench.sendGrantAndDie(handle, 1);
  const later = new GatedBench(t, bench.options);
  must(await later.driver.openGate(handle, { epoch: 1 }));
  await logged(bench.driver.logPath('game', handle.activation), /up/);
  assert.equal(await runs(bench, handle), 1);
});

test('I1: a launcher that is stopped before its gate opens never runs the program', async (t) => {
  const { bench, handle } = await waiting(t);
  await bench.grant(handle, 1);
  const stopped = await bench.driver.stop(handle, 20_000);
  assert.deepEqual(stopped, { kind: 'gone', proof: 'tree-empty', forced: false });
  assert.equal(codeOf(await bench.driver.openGate(handle, { epoch: 1 })), 'gate-process-gone');
  assert.equal(await runs(bench, handle), 0);
  assert.equal((await bench.driver.find('game', handle.activation)).kind, 'absent');
});

test('F12: a gate opens for the observed process only: no other pid, listener or start', async (t) => {
  const { bench, handle, files } = await waiting(t);
  await bench.grant(handle, 1);
  const recycled = { ...handle, identity: { ...handle.identity, startTime: '1' } };
  assert.equal(codeOf(await bench.driver.openGate(recycled, { epoch: 1 })), 'gate-process-gone');
  const plain = await bench.start(bench.sleep());
  assert.equal(codeOf(await bench.driver.openGate(plain, { epoch: 1 })), 'gate-stays-closed');
  unlinkSync(files.gate);
  const impostor = createServer(() => assert.fail('the grant reached another process')).listen(files.gate);
  await once(impostor, 'listening');
  assert.equal(codeOf(await bench.driver.openGate(handle, { epoch: 1 })), 'channel-foreign-listener');
  impostor.close();
});

test('I2: between gate and program nothing is reported that does not stand there', async (t) => {
  const { bench, handle } = await waiting(t, {
    limits: { memoryBytes: null, processes: null, openFiles: 999, logBytes: 1_000, logFiles: 2 },
  });
  await bench.grant(handle, 1);
  assert.equal((await bench.driver.observe(handle, RELEASE)).kind, 'seen');
  const opening = bench.driver.openGate(handle, { epoch: 1 });
  const done = new AbortController();
  void opening.finally(() => done.abort());
  let looks = 0;
  while (!done.signal.aborted) {
    const seen = await bench.driver.observe(handle, RELEASE);
    if (seen.kind !== 'seen') continue;
    looks++;
    assert.equal(seen.value.gate, seen.value.argv === handle.argv ? undefined : 'waiting');
  }
  must(await opening);
  assert.ok(looks > 0);
});

test('I2: a launcher that becomes its program while it is observed is reported as neither', async (t) => {
  const { bench, handle, files } = await waiting(t);
  await bench.grant(handle, 1);
  class Slow extends FileDigests {
    override async of(path: string) {
      must(await bench.driver.openGate(handle, { epoch: 1 }));
      return super.of(path);
    }
  }
  // Launcher and program share one executable, so that only argv tells.
  const from = ownStandpoint(bench.options.clock.bootId);
  assert.equal((await observeProcess(handle, RELEASE, files, new Slow(), from)).kind, 'unknown');
  const settled = await observeProcess(handle, RELEASE, files, new Slow(), from);
  assert.equal(settled.kind === 'seen' && settled.value.gate, undefined);
  assert.equal(settled.kind === 'seen' && settled.value.argv, handle.argv);
});

test('a limit that is too little for a launcher is refused by name, and the least is enough', async (t) => {
  const bench = new GatedBench(t);
  const limits = { memoryBytes: null, processes: null, openFiles: null, logBytes: 1_000, logFiles: 2 };
  for (const little of [{ processes: 9 }, { memoryBytes: 100_663_295 }]) {
    const launch = bench.sleep({ limits: { ...limits, ...little } });
    await assert.rejects(bench.startGated(launch), /limit-not-enforceable.*the launcher of a gated start needs it/);
  }
  const least = { ...limits, memoryBytes: 100_663_296 };
  const handle = await bench.startGated(bench.sleep({ limits: least }));
  await bench.grant(handle, 1);
  must(await bench.driver.openGate(handle, { epoch: 1 }));
});

test('a launcher says nothing in the program’s log and ends by SIGTERM at once', async (t) => {
  const { bench, handle } = await waiting(t);
  const child = spawn('/bin/kill', [String(handle.identity.pid)]);
  await once(child, 'exit');
  bench.driver.watch(handle);
  await bench.death(handle.activation);
  assert.deepEqual(await bench.driver.logTail('game', handle.activation, 10), []);
});
