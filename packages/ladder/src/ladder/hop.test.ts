import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { checkDataFlow, checkPromotion, rank, requireHop } from './hop.ts';
import { LADDER_VERSION, type Ladder } from './model.ts';

function ladderOf(edges: Readonly<Record<string, readonly string[]>>): Ladder {
  const slots = Object.entries(edges).map(([name, to]) => ({
    name,
    namespace: `ns-${name}`,
    hosts: [],
    role: 'test' as const,
    guarded: false,
    promotes_to: to,
  }));
  return { apiVersion: LADDER_VERSION, meta: {}, slots };
}

/** Two parallel rungs feed one pre-production; `lab` stands apart. */
const ladder = ladderOf({
  dev: ['qa-a', 'qa-b'],
  'qa-a': ['pre'],
  'qa-b': ['pre'],
  pre: ['prod'],
  prod: [],
  lab: ['prod'],
});

test('code moves along an edge, and the six answers are told apart', () => {
  assert.deepEqual(checkPromotion(ladder, 'dev', 'qa-b'), { kind: 'legal' });
  assert.deepEqual(checkPromotion(ladder, 'dev', 'prod'), { kind: 'skips-rungs', skipped: ['qa-a', 'pre'] });
  assert.deepEqual(checkPromotion(ladder, 'prod', 'dev'), { kind: 'wrong-direction' });
  assert.deepEqual(checkPromotion(ladder, 'qa-a', 'qa-b'), { kind: 'not-on-ladder' });
  assert.deepEqual(checkPromotion(ladder, 'dev', 'dev'), { kind: 'same-slot' });
  assert.deepEqual(checkPromotion(ladder, 'dev', 'moon'), { kind: 'unknown-slot', slot: 'moon' });
  assert.deepEqual(checkPromotion(ladder, 'sun', 'moon'), { kind: 'unknown-slot', slot: 'sun' });
});

test('data moves the other way', () => {
  assert.deepEqual(checkDataFlow(ladder, 'prod', 'pre'), { kind: 'legal' });
  assert.deepEqual(checkDataFlow(ladder, 'prod', 'dev'), { kind: 'skips-rungs', skipped: ['pre', 'qa-a'] });
  assert.deepEqual(checkDataFlow(ladder, 'dev', 'prod'), { kind: 'wrong-direction' });
  assert.deepEqual(checkDataFlow(ladder, 'lab', 'dev'), { kind: 'not-on-ladder' });
  assert.deepEqual(checkDataFlow(ladder, 'prod', 'prod'), { kind: 'same-slot' });
  assert.deepEqual(checkDataFlow(ladder, 'sun', 'moon'), { kind: 'unknown-slot', slot: 'sun' });
});

test('two rungs of the same rank have no way between them: a rank is for drawing, the edges decide', () => {
  assert.deepEqual(Object.fromEntries(rank(ladder)), { dev: 0, 'qa-a': 1, 'qa-b': 1, pre: 2, prod: 3, lab: 0 });
});

test('only a skip can be overridden, and what it leaves out comes back', () => {
  const move = { what: 'code', from: 'dev', to: 'prod', allowSkip: true } as const;
  assert.deepEqual(requireHop(checkPromotion(ladder, 'dev', 'prod'), move), {
    ok: true,
    value: { skipped: ['qa-a', 'pre'] },
  });
  const answers = [
    requireHop(checkPromotion(ladder, 'dev', 'prod'), { ...move, allowSkip: false }),
    ...(['wrong-direction', 'not-on-ladder', 'same-slot'] as const).map((kind) => requireHop({ kind }, move)),
    requireHop({ kind: 'unknown-slot', slot: 'moon' }, move),
  ];
  assert.deepEqual(
    answers.map((answer) => (answer.ok ? 'passed' : answer.refusal.code)),
    ['hop-skips-rungs', 'hop-wrong-direction', 'hop-not-on-ladder', 'hop-same-slot', 'slot-unknown'],
  );
});

/** Ladders without a circle: edges lead only to later slots. */
const acyclic = fc
  .integer({ min: 2, max: 7 })
  .chain((size) =>
    fc
      .array(fc.array(fc.integer({ min: 0, max: size - 1 }), { maxLength: 3 }), { minLength: size, maxLength: size })
      .map((all) =>
        ladderOf(
          Object.fromEntries(all.map((to, from) => [`s${from}`, to.filter((n) => n > from).map((n) => `s${n}`)])),
        ),
      ),
  );

test('over random ladders: legal is exactly an edge, data mirrors code, rank rises along every edge', () => {
  fc.assert(
    fc.property(acyclic, (some) => {
      const ranks = rank(some);
      for (const from of some.slots) {
        for (const to of some.slots) {
          const up = checkPromotion(some, from.name, to.name);
          assert.equal(up.kind === 'legal', from.promotes_to.includes(to.name));
          if (up.kind === 'legal' || up.kind === 'skips-rungs') {
            assert.ok((ranks.get(from.name) ?? 0) < (ranks.get(to.name) ?? 0));
            assert.equal(checkPromotion(some, to.name, from.name).kind, 'wrong-direction');
          }
          const down = checkDataFlow(some, to.name, from.name);
          assert.equal(down.kind, up.kind);
        }
      }
    }),
    { numRuns: 60 },
  );
});
