import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decide } from '@idunn/authority';
import { run } from './run.ts';
import { twoDeploys } from './scenario.ts';

test('I3, I10: what follows a publication is decided on a route that was read after it, a step back too', async () => {
  const read: (string | null)[] = [];
  const { results, violations, world } = await run(twoDeploys('good', { stores: 0, routed: true }), {
    decide: (tx, e) => {
      const isPublished = Object.values(e.answers).some(({ effect }) => effect.kind === 'publish-route');
      if (isPublished && 'passage' in tx.state) {
        read.push(e.route.kind === 'seen' ? (e.route.value.members[0]?.activation ?? null) : null);
      }
      return decide(tx, e);
    },
  });
  assert.deepEqual(
    results.map((result) => result?.outcome),
    ['admitted', 'admitted'],
  );
  assert.deepEqual(violations, []);
  const [first, second] = world.processes.keys();
  assert.deepEqual([...new Set(read)], [first, second]);
});
