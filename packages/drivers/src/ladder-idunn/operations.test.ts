import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '@idunn/client';
import { randomIds, systemClock, type Timers } from '@idunn/kernel';
import { fleetOperations } from './operations.ts';

const BUILD = `sha256:${'1'.repeat(64)}`;
/** Time that passes at once. */
const timers: Timers = {
  after(_, fire) {
    setImmediate(fire);
    return () => undefined;
  },
};

test('F8: a command whose answer was lost is asked again under its own id', async () => {
  const asked: string[] = [];
  const lost = { code: 'daemon-unreachable', reason: 'socket hang up', remedy: 'Start the daemon.' };
  const client = {
    status: async () => ({ ok: true, value: { fleet: 'qa', targets: [] } }),
    build: async () => ({ ok: true, value: { commit: 'c' } }),
    command: async ({ operationId }: { operationId: string }) => {
      asked.push(operationId);
      return asked.length < 3 ? { ok: false, refusal: lost } : { ok: true, value: { transaction: 'tx-1' } };
    },
  } as unknown as Client;
  const operations = fleetOperations({ client, authorizer: null, clock: systemClock(), timers, ids: randomIds });
  const set = await operations.setRelease({} as never, { namespace: 'qa', workload: 'shop', release: BUILD });
  assert.ok(set.ok);
  assert.equal(asked.length, 3);
  assert.equal(new Set(asked).size, 1);
});
