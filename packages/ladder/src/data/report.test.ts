import assert from 'node:assert/strict';
import { test } from 'node:test';
import { absent, type Evidence, seen, unknown } from '@idunn/kernel';
import { answerOf } from '../guard/testing/world.ts';
import { completeness, type Part, part, partLines, requireComplete } from './report.ts';
import { requiresConfirmation, type Watermark, wouldDiscard } from './watermark.ts';

test('a report is complete when every declared part is, and nothing declared is unknown', () => {
  assert.deepEqual(completeness([]), { kind: 'unknown', because: 'no part was declared' });
  assert.deepEqual(completeness([part.complete('a', null), part.complete('b', 0)]), { kind: 'complete' });
});

test('each of the four other states spoils the verdict, and says why', () => {
  const spoiled = [
    part.partial('a', 1, 2, 'the disk was full'),
    part.skipped('b', 'no credentials'),
    part.failed('c', 'connection refused'),
    part.unknown('d', 'the answer was lost'),
  ];
  assert.deepEqual(completeness([part.complete('ok', 1), ...spoiled]), {
    kind: 'incomplete',
    parts: ['a', 'b', 'c', 'd'],
  });
  assert.deepEqual(partLines([part.complete('ok', null), ...spoiled]), [
    'ok: complete, an unknown number of items',
    'a: partial, 1 of 2: the disk was full',
    'b: skipped: no credentials',
    'c: failed: connection refused',
    'd: unknown: the answer was lost',
  ]);
  for (const one of spoiled) assert.equal(answerOf(requireComplete([one])), 'capture-incomplete');
});

test('an optional part may be skipped, not fail, and is shown all the same', () => {
  const skipped = part.optional(part.skipped('search index', 'it is built again'));
  assert.deepEqual(completeness([part.complete('a', 1), skipped]), { kind: 'complete' });
  assert.deepEqual(partLines([skipped]), ['search index (optional): skipped: it is built again']);
  assert.equal(completeness([part.optional(part.failed('search index', 'x'))]).kind, 'incomplete');
});

test('a forged part without its detail, or a part twice, is unknown', () => {
  const forged = { name: 'a', optional: false, state: 'skipped', detail: '' } as Part;
  assert.equal(completeness([forged]).kind, 'unknown');
  assert.equal(completeness([part.complete('a', 1), part.complete('a', 1)]).kind, 'unknown');
});

const at = (mark: string | null, magnitude: Record<string, number> | null = { orders: 10 }): Watermark => ({
  mark,
  magnitude,
});

const discards: readonly (readonly [string, Watermark | null, Evidence<Watermark>, string])[] = [
  ['nothing since', at('7'), seen(at('7')), 'nothing'],
  ['an older slot', at('10'), seen(at('9')), 'nothing'],
  ['a slot without data', at('7'), absent, 'nothing'],
  ['newer writes', at('9'), seen(at('10')), 'newer-writes'],
  ['newer writes by time', at('2026-11-30T01:00:00Z'), seen(at('2026-11-30T01:00:00.001Z')), 'newer-writes'],
  ['the same time in another spelling', at('2026-11-30T01:00:00Z'), seen(at('2026-11-30T01:00:00.000Z')), 'nothing'],
  ['deletions, which no mark shows', at('7'), seen(at('7', { orders: 9 })), 'removed-rows'],
  ['rows without a newer mark', at('7'), seen(at('7', { orders: 11 })), 'newer-writes'],
  ['a bundle without a watermark', null, seen(at('7')), 'unknown'],
  ['a slot that could not be read', at('7'), unknown('timeout'), 'unknown'],
  ['no mark in the bundle', at(null), seen(at('7')), 'unknown'],
  ['no mark in the slot', at('7'), seen(at(null)), 'unknown'],
  ['no counts', at('7', null), seen(at('7')), 'unknown'],
  ['counts of nothing', at('7', {}), seen(at('7', {})), 'unknown'],
  ['a table that the slot did not count', at('7', { orders: 1, users: 1 }), seen(at('7', { orders: 1 })), 'unknown'],
  ['a table that the bundle did not count', at('7', { orders: 1 }), seen(at('7', { orders: 1, users: 1 })), 'unknown'],
  ['marks of two kinds', at('7'), seen(at('2026-11-30T01:00:00Z')), 'unknown'],
  ['marks that no one can order', at('a'), seen(at('b')), 'unknown'],
];

for (const [what, bundle, target, kind] of discards) {
  test(`what a load would discard: ${what} is ${kind}`, () => {
    const discard = wouldDiscard(bundle, target);
    assert.equal(discard.kind, kind);
    assert.equal(requiresConfirmation(discard), kind !== 'nothing');
  });
}
