import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ok } from '@idunn/kernel';
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
