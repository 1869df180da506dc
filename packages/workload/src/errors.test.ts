import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ERROR_CODES, IdunnError } from './errors.ts';

test('the SDK and Idunn’s catalogue know the same codes and remedies', () => {
  const path = new URL('../../kernel/src/catalogue/workload.ts', import.meta.url);
  const catalogue = readFileSync(path, 'utf8');
  const codes = [...catalogue.matchAll(/^ {2}'([a-z-]+)': \{/gm)].map((match) => match[1]);
  assert.deepEqual(codes, ERROR_CODES);
  for (const code of ERROR_CODES) {
    const { remedy } = new IdunnError(code, 'because');
    assert.ok(catalogue.includes(remedy), `${code}: ${remedy}`);
  }
});
