import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ok, refusal, refused } from '@idunn/kernel';
import { FakeTime } from '@idunn/kernel/testing';
import { type HelperHello, HelperKeeper } from './keeper.ts';
import type { ControlLink } from './link.ts';

interface Protocol {
  readonly asks: { readonly hello: object };
  readonly answers: { readonly hello: HelperHello };
  readonly notice: object;
}

test('a helper that goes while it is asked to make way is looked for again', async () => {
  const hello = { pid: 1, build: 'sha256:0' };
  const time = new FakeTime();
  const link = {
    hello: null as HelperHello | null,
    isMute: false,
    connects: 0,
    async connect() {
      this.connects += 1;
      this.hello = hello;
      return ok(hello);
    },
    close: () => undefined,
  };
  let goes = true;
  const keeper: HelperKeeper<Protocol> = new HelperKeeper<Protocol>({
    link: link as unknown as ControlLink<Protocol>,
    launch: { name: 'router', argv: ['none'], files: [], logFile: 'none', failed: 'router-start-failed' },
    codes: { unreachable: 'router-unreachable', alreadyRunning: 'router-already-running' },
    async replace() {
      if (!goes) return 'stays';
      goes = false;
      link.hello = null;
      keeper.lost();
      return 'stays';
    },
    hung: { find: async () => null },
    timers: time,
  });
  await keeper.ensure();
  await new Promise(setImmediate);
  time.pass(1_000);
  await new Promise(setImmediate);
  assert.deepEqual([link.connects, keeper.standing()], [2, { kind: 'up' }]);
});

test('F2: one that hangs is told with its process, which nobody but a person ends', async () => {
  const time = new FakeTime();
  const link = {
    hello: null as HelperHello | null,
    isMute: false,
    async connect() {
      if (this.isMute) return refused(refusal('router-unreachable', 'The router did not answer hello.'));
      this.hello = { pid: 4_719, build: 'sha256:0' };
      return ok(this.hello);
    },
    close: () => undefined,
  };
  const keeper = new HelperKeeper<Protocol>({
    link: link as unknown as ControlLink<Protocol>,
    launch: { name: 'router', argv: ['none'], files: [], logFile: 'none', failed: 'router-start-failed' },
    codes: { unreachable: 'router-unreachable', alreadyRunning: 'router-already-running' },
    hung: { find: async () => null },
    timers: time,
  });
  const told: unknown[] = [];
  keeper.onStanding(() => {
    const { kind, ...why } = keeper.standing();
    told.push('because' in why ? why.because : kind);
  });
  await keeper.ensure();
  Object.assign(link, { hello: null, isMute: true });
  keeper.lost();
  for (let passed = 0; passed < 10; passed += 1) {
    await new Promise(setImmediate);
    time.pass(20);
  }
  assert.deepEqual(told.slice(0, 3), [
    'up',
    'The router does not answer any more. It runs as process 4719.',
    'The router did not answer hello. It runs as process 4719.',
  ]);
});

test('I9: one that hangs is ended where that costs nobody anything, and another is started', async () => {
  const hello = { pid: 2, build: 'sha256:0' };
  const time = new FakeTime();
  const listener = {
    kind: 'linux-process',
    pid: 7,
    startTime: '1',
    bootId: 'b',
    controlGroup: null,
    pidNamespace: 'n',
  } as const;
  const ended: number[] = [];
  let asked = 0;
  const link = {
    hello: null as HelperHello | null,
    isMute: true,
    async connect() {
      asked += 1;
      if (ended.length === 0) return refused(refusal('attendant-unreachable', 'The attendant does not answer.'));
      this.isMute = false;
      this.hello = hello;
      return ok(hello);
    },
    close: () => undefined,
  };
  const keeper = new HelperKeeper<Protocol>({
    link: link as unknown as ControlLink<Protocol>,
    launch: { name: 'attendant', argv: ['none'], files: [], logFile: 'none', failed: 'attendant-start-failed' },
    codes: { unreachable: 'attendant-unreachable', alreadyRunning: 'attendant-already-running' },
    hung: { find: async () => listener, end: ({ pid }) => void ended.push(pid) },
    timers: time,
  });
  const told: string[] = [];
  keeper.onStanding(() => told.push(JSON.stringify(keeper.standing())));
  void keeper.ensure();
  keeper.lost();
  while (link.hello === null) {
    time.pass(1_000);
    await new Promise(setImmediate);
  }
  await new Promise(setImmediate);
  assert.ok(asked > 5, 'it was asked again and again before');
  assert.deepEqual([ended, keeper.standing()], [[7], { kind: 'up' }]);
  assert.ok(
    told.some((text) => text.includes('Process 7 hung and is ended; another is started.')),
    told.join(),
  );
});
