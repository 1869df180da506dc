import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NEW, OLD, transaction } from '../testing/samples.ts';
import { stewardOf } from './views.ts';

test('I8: a steward that a deployment was planned with is shown, though what is admitted had none', async () => {
  const grace = { user: 'grace', store: '/var/lib/idunn-steward/app/freeze.json' };
  const library = { plan: async () => ({ ...NEW.plan, steward: grace }) };
  const waiting = transaction({ phase: 'sealed', plan: NEW.subject.plan, subject: NEW.subject });
  assert.deepEqual(await stewardOf({ library }, waiting, OLD.plan), grace);
  assert.equal(await stewardOf({ library }, undefined, OLD.plan), null);
  const dropped = { plan: async () => NEW.plan };
  assert.equal(await stewardOf({ library: dropped }, waiting, { ...OLD.plan, steward: grace }), null);
});
