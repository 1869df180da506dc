import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { canonicalJson } from './canonical.ts';
import { digestBytes, digestJson, isDigest } from './digest.ts';

test('RFC 8785: members in the order of their UTF-16 code units, no white space', () => {
  const value = {
    '\u20ac': 'Euro',
    '\r': 'CR',
    '\ufb33': 'dalet',
    '1': 'one',
    '\ud83d\ude00': 'smile',
    '\u0080': 'x',
    ö: 'ö',
  };
  assert.equal(
    canonicalJson(value),
    '{"\\r":"CR","1":"one","\u0080":"x","ö":"ö","\u20ac":"Euro","\ud83d\ude00":"smile","\ufb33":"dalet"}',
  );
});

test('RFC 8785: numbers in their shortest form', () => {
  const numbers = [0, -0, 1e21, 1e-7, 333333333.3333333, 4.5, 2e-3, 9007199254740991, 5e-324, 1.7976931348623157e308];
  const text = '[0,0,1e+21,1e-7,333333333.3333333,4.5,0.002,9007199254740991,5e-324,1.7976931348623157e+308]';
  assert.equal(canonicalJson(numbers), text);
});

test('an absent optional member is written as absent', () => {
  assert.equal(canonicalJson({ a: undefined, b: [1] }), '{"b":[1]}');
});

test('what JSON would lose in silence is refused', () => {
  const lossy: readonly unknown[] = [
    undefined,
    [undefined],
    Number.NaN,
    { a: Number.POSITIVE_INFINITY },
    1n,
    Symbol('a'),
    () => 1,
    new Map([[1, 2]]),
    new Date(0),
    Buffer.from('a'),
    '\ud800',
    { a: ['\udc00'] },
  ];
  for (const value of lossy) assert.throws(() => canonicalJson(value), TypeError);
});

test('a canonical text is its own canonical form, and does not depend on the order of members', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = canonicalJson(value);
      assert.equal(canonicalJson(JSON.parse(text)), text);
      assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(value)));
    }),
  );
  const members = fc.uniqueArray(fc.tuple(fc.string({ unit: 'grapheme' }), fc.integer()), {
    selector: ([name]) => name,
  });
  fc.assert(
    fc.property(members, (pairs) => {
      assert.equal(canonicalJson(Object.fromEntries(pairs)), canonicalJson(Object.fromEntries(pairs.toReversed())));
    }),
  );
});

test('a digest is SHA-256 over exact bytes, and knows its own form', () => {
  const empty = 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
  assert.equal(digestBytes(''), empty);
  assert.equal(digestJson({ b: 1, a: 2 }), digestBytes('{"a":2,"b":1}'));
  assert.ok(isDigest(empty));
  for (const text of ['', empty.toUpperCase(), `${empty}0`, empty.slice(7), `${empty}\n`]) assert.ok(!isDigest(text));
});
