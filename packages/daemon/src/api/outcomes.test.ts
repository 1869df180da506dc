import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OUTCOMES } from '@idunn/authority';
import { outcomeName } from '@idunn/client/schemas';

test('the API names every outcome that the engine has, and no other', () => {
  assert.deepEqual([...outcomeName.options].sort(), [...OUTCOMES].sort());
});
