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
