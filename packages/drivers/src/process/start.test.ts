import assert from 'node:assert/strict';
import { existsSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { digestBytes, digestJson, ok } from '@idunn/kernel';
import { activationFiles } from './activation-directory.ts';
import { createPrivate, readIfThere } from './files.ts';
import { Bench, codeOf, must, RELEASE } from './testing/bench.ts';
import { logged } from './testing/logs.ts';

for (const controlGroups of ['when-available', 'never'] as const) {
  test(`I6: a repeated start finds the first process (control groups: ${controlGroups})`, async (t) => {
    const bench = new Bench(t, { controlGroups });
    const launch = bench.sleep();
    const activation = await bench.mint(launch);
    const request = bench.launchRequest(activation, launch);
    const [first, second] = await Promise.all([bench.driver.start(request), bench.driver.start(request)]);
    assert.deepEqual(must(first), must(second));
    const third = must(await bench.driver.start(request));
    assert.deepEqual(third, must(first));
    await bench.driver.stop(third, 20_000);
    const again = codeOf(await bench.driver.start(request));
    assert.equal(again, controlGroups === 'never' ? 'activation-start-unknown' : 'activation-spent');
  });

  test(`I1: a start that was never recorded is found, never repeated (groups: ${controlGroups})`, async (t) => {
    const bench = new Bench(t, { controlGroups });
    const launch = bench.sleep();
    const activation = await bench.mint(launch);
    const request = bench.launchRequest(activation, launch);
    const first = must(await bench.driver.start(request));
    unlinkSync(activationFiles(bench.options.roots.runtime, activation.activation).process);
    const later = new Bench(t, { ...bench.options });
    const found = await later.driver.find('game', activation.activation);
    assert.deepEqual(found, { kind: 'seen', value: first });
    assert.deepEqual(must(await later.driver.start(request)), first);
    await bench.driver.stop(first, 20_000);
  });
}

test('I6: a ticket appears whole or not at all, and a draft that a dead daemon left hinders nothing', async (t) => {
  const bench = new Bench(t);
  const launch = bench.sleep();
  const activation = await bench.mint(launch);
  const { ticket, directory } = activationFiles(bench.options.roots.runtime, activation.activation);
  writeFileSync(`${ticket}.of-a-dead-daemon.draft`, '');
  assert.equal((await bench.driver.find('game', activation.activation)).kind, 'absent');
  // Whoever looks while it is written sees nothing, then all of it.
  const whole = JSON.stringify({ activation: 'a', fill: 'x'.repeat(200_000) });
  const other = join(directory, 'other.json');
  const writing = createPrivate(other, whole);
  const seen = new Set<string | null>();
  const written = new AbortController();
  void writing.finally(() => written.abort());
  while (!written.signal.aborted) seen.add(await readIfThere(other));
  assert.ok(await writing);
  assert.ok([...seen].every((text) => text === null || text === whole));
  assert.equal(await createPrivate(other, 'another'), false);
  assert.equal(await readIfThere(other), whole);
  unlinkSync(other);
  const handle = must(await bench.driver.start(bench.launchRequest(activation, launch)));
  await bench.driver.stop(handle, 20_000);
  await bench.driver.retire('game', activation.activation);
  assert.equal(existsSync(directory), false);
});

test('I10: find is absent before the start and after the end, and unknown when nothing proves it', async (t) => {
  const bench = new Bench(t);
  const activation = await bench.mint(bench.sleep());
  assert.equal((await bench.driver.find('game', activation.activation)).kind, 'absent');
  const handle = await bench.start(bench.sleep());
  await bench.driver.stop(handle, 20_000);
  assert.equal((await bench.driver.find('game', handle.activation)).kind, 'absent');

  const plain = new Bench(t, { controlGroups: 'never' });
  const lone = await plain.start(plain.sleep({ singleProcess: true }));
  await plain.driver.stop(lone, 20_000);
  assert.equal((await plain.driver.find('game', lone.activation)).kind, 'absent');
  const other = await plain.start(plain.sleep());
  await plain.driver.stop(other, 20_000);
  assert.equal((await plain.driver.find('game', other.activation)).kind, 'unknown');
  assert.equal((await plain.driver.find('game', 'act-never-minted')).kind, 'unknown');
});

test('I6, I9: what was retired and seen gone stays absent for later daemons; what was not is unknown', async (t) => {
  const bench = new Bench(t, { controlGroups: 'never' });
  const [lone, other] = [await bench.start(bench.sleep({ singleProcess: true })), await bench.start(bench.sleep())];
  for (const handle of [lone, other]) {
    await bench.driver.stop(handle, 20_000);
    await bench.driver.retire('game', handle.activation);
  }
  const { own } = activationFiles(bench.options.roots.runtime, lone.activation);
  assert.equal(existsSync(own), false);
  const later = new Bench(t, bench.options);
  assert.equal((await later.driver.find('game', lone.activation)).kind, 'absent');
  assert.equal((await later.driver.find('game', other.activation)).kind, 'unknown');
});

test('I1, I10: tickets tell what may run of a target, and what cannot be judged is among it', async (t) => {
  const bench = new Bench(t);
  await bench.mint(bench.sleep());
  assert.deepEqual(await bench.driver.running('game'), { kind: 'seen', value: [] });
  const handle = await bench.start(bench.sleep());
  const { activation, identity } = handle;
  const later = new Bench(t, { ...bench.options });
  assert.deepEqual(await later.driver.running('game'), { kind: 'seen', value: [{ activation, pid: identity.pid }] });
  assert.deepEqual(await later.driver.running('another'), { kind: 'seen', value: [] });
  await bench.driver.stop(handle, 20_000);
  assert.deepEqual(await later.driver.running('game'), { kind: 'seen', value: [] });

  const plain = new Bench(t, { controlGroups: 'never' });
  const forking = await plain.start(plain.sleep());
  await plain.driver.stop(forking, 20_000);
  const unjudged = [{ activation: forking.activation, pid: null }];
  assert.deepEqual(await plain.driver.running('game'), { kind: 'seen', value: unjudged });
  writeFileSync(activationFiles(plain.options.roots.runtime, forking.activation).ticket, 'torn');
  assert.deepEqual(await plain.driver.running('game'), { kind: 'seen', value: unjudged }, 'what was read stands');
  assert.equal((await new Bench(t, { ...plain.options }).driver.running('another')).kind, 'unknown');
});

test('F12: what another target has launched is found for nobody else', async (t) => {
  const bench = new Bench(t);
  const handle = await bench.start(bench.sleep());
  assert.equal((await bench.driver.find('game', handle.activation)).kind, 'seen');
  assert.equal((await bench.driver.find('other', handle.activation)).kind, 'unknown');
  await bench.driver.stop(handle, 20_000);
  assert.equal((await bench.driver.find('other', handle.activation)).kind, 'unknown');
});

test('I5: a ticket of an earlier boot means that nobody is left', async (t) => {
  const bench = new Bench(t, { controlGroups: 'never' });
  const handle = await bench.start(bench.sleep());
  const { ticket } = activationFiles(bench.options.roots.runtime, handle.activation);
  const text = readFileSync(ticket, 'utf8');
  writeFileSync(ticket, text.replace(bench.options.clock.bootId, '00000000-0000-0000-0000-000000000000'));
  assert.equal((await bench.driver.find('game', handle.activation)).kind, 'absent');
  writeFileSync(ticket, text);
});

test('I2: what runs is observed: executable, argv and the packaged entry', async (t) => {
  const bench = new Bench(t);
  const handle = await bench.start(bench.launch('polite', { args: [{ literal: 'one two' }] }));
  const observed = await bench.driver.observe(handle, RELEASE);
  assert.ok(observed.kind === 'seen');
  assert.equal(observed.value.executable, digestBytes(readFileSync(process.execPath)));
  assert.equal(observed.value.argv, digestJson([process.execPath, bench.file('polite.mjs'), 'one two']));
  assert.equal(observed.value.argv, handle.argv);
  assert.equal(observed.value.entry?.digest, digestBytes(readFileSync(bench.file('polite.mjs'))));
  const foreign = await bench.driver.observe(handle, digestBytes('another release'));
  assert.equal(foreign.kind, 'unknown');
  await bench.driver.stop(handle, 20_000);
  assert.deepEqual(await bench.driver.observe(handle, RELEASE), { kind: 'absent' });
});

test('F12: a recycled process id is another process: not observed, not signalled', async (t) => {
  const bench = new Bench(t, { controlGroups: 'never' });
  const bystander = await bench.start(bench.sleep());
  const handle = await bench.start(bench.sleep({ singleProcess: true }));
  await bench.driver.stop(handle, 20_000);
  const recycled = { ...handle, identity: { ...handle.identity, pid: bystander.identity.pid } };
  assert.deepEqual(await bench.driver.observe(recycled, RELEASE), { kind: 'absent' });
  assert.deepEqual(await bench.driver.stop(recycled, 20_000), { kind: 'gone', proof: 'single-process', forced: false });
  assert.equal((await bench.driver.observe(bystander, RELEASE)).kind, 'seen');
});

test('slots are filled and the environment is the contract’s own and nothing else', async (t) => {
  const bench = new Bench(t);
  process.env['IDUNN_TEST_STRAY'] = 'stray';
  const state = {
    stateId: 's',
    schema: '1',
    accepts: ['1'],
    root: `${bench.root}/state`,
    stores: [{ id: 'db', kind: 'sqlite', path: 'app.db' } as const],
    lease: 'rows',
    fence: 'epoch-raised',
  } as const;
  const endpoint = { protocol: 'http', host: '127.0.0.1', fromPort: 21_340, toPort: 21_349 } as const;
  const launch = bench.launch('leaky', {
    secrets: [{ name: 'token', file: `${bench.root}/token` }],
    endpoint,
    environment: {
      DB: { slot: 'state-path:db' },
      PORT: { slot: 'endpoint-port' },
      ASSETS: { slot: 'artifact:app' },
      MODE: { literal: 'test' },
    },
  });
  const handle = await bench.start(launch, state);
  const text = await logged(bench.driver.logPath('game', handle.activation), /env .*\n/);
  const environment = JSON.parse(/env (.*)/.exec(text)?.[1] ?? '{}') as Record<string, string>;
  assert.deepEqual(environment, {
    DB: `${bench.root}/state/app.db`,
    PORT: environment['PORT'],
    ASSETS: `${bench.root}/release/app`,
    MODE: 'test',
    IDUNN_ACTIVATION: handle.activation,
    IDUNN_ACTIVATION_DIRECTORY: activationFiles(bench.options.roots.runtime, handle.activation).directory,
  });
  assert.match(environment['PORT'] ?? '', /^2134\d$/);
});

test('what cannot be started is refused: unknown slot, missing program, no program, not minted', async (t) => {
  const bench = new Bench(t);
  const start = async (launch: ReturnType<Bench['launch']>) => {
    const activation = await bench.mint(launch);
    return codeOf(await bench.driver.start(bench.launchRequest(activation, launch)));
  };
  assert.equal(await start(bench.launch('polite', { args: [{ slot: 'state-path:db' }] })), 'launch-slot-unknown');
  assert.equal(
    await start(bench.sleep({ program: { kind: 'artifact', artifact: 'app', path: 'none' } })),
    'program-not-startable',
  );
  writeFileSync(bench.file('text'), '\0garbage', { mode: 0o755 });
  assert.equal(
    await start(bench.sleep({ program: { kind: 'artifact', artifact: 'app', path: 'text' } })),
    'program-not-startable',
  );
  const unminted = { ...(await bench.mint(bench.sleep())), activation: 'act-other' };
  assert.equal(codeOf(await bench.driver.start(bench.launchRequest(unminted, bench.sleep()))), 'activation-not-minted');
});

test('limits are held by the kernel, or refused by name', async (t) => {
  const bench = new Bench(t);
  const limits = { memoryBytes: 300_000_000, processes: 40, openFiles: 123, logBytes: 1_000, logFiles: 2 };
  const handle = await bench.start(bench.sleep({ limits }));
  assert.match(readFileSync(`/proc/${handle.identity.pid}/limits`, 'utf8'), /Max open files +123 +123 /);
  assert.equal((await bench.driver.observe(handle, RELEASE)).kind, 'seen');
  assert.match(
    readFileSync(`/proc/${handle.identity.pid}/cgroup`, 'utf8'),
    new RegExp(`memory:/idunn-bench/${handle.activation}|0::/.*${handle.activation}`),
  );

  const other = new Bench(t, { controlGroups: 'never', signerKeyFor: () => Promise.resolve(ok(bench.signerKey)) });
  assert.equal(
    (await other.start(other.sleep({ limits: { ...limits, memoryBytes: null, processes: null } }))).version,
    1,
  );
});
