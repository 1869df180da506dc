import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isFault, parseDocument } from './document.ts';

test('I11: a key of 100,000 parts, or a long table with many keys, costs no more than its bytes', () => {
  const dotted = parseDocument(`[${Array(100_000).fill('a').join('.')}]\n`, 'recipe.toml');
  assert.ok(isFault(dotted));
  assert.equal(dotted.message, 'a key nests deeper than 32 levels');
  assert.equal(dotted.text.length, 300);
  const name = 'x'.repeat(120_000);
  const keys = Array.from({ length: 12_000 }, (_, index) => `k${index} = 1`);
  const long = parseDocument(`[${name}]\n${keys.join('\n')}\n`, 'recipe.toml');
  assert.ok(!isFault(long));
  const before = process.memoryUsage().rss;
  assert.equal(long.place([name, 'k11999']).line, 12_001);
  assert.ok(process.memoryUsage().rss - before < 400 * 2 ** 20);
});
