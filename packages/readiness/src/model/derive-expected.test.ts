import assert from 'node:assert/strict';
import { test } from 'node:test';
import { digestJson } from '@idunn/kernel';
import * as fc from 'fast-check';
import { expected, key, plan, planDigest, sampleExpected, sealed } from '../testing/samples.ts';
import { deriveExpected, incarnationKey } from './derive-expected.ts';
import { expectedSchema } from './schemas.ts';

test('I4: Expected is derived from a sealed release and the very plan that it was sealed from', () => {
  const derived = deriveExpected({ plan, planDigest, sealed });
  assert.ok(derived.ok);
  assert.equal(derived.value.release, sealed.release);
  assert.equal(derived.value.plan, planDigest);
  assert.deepEqual(derived.value.runtime, {
    driver: 'process',
    executable: sealed.executableDigest,
    entry: sealed.entry?.digest,
  });
});

test('I2: a release that was sealed from another plan, or for another target, has no Expected', () => {
  for (const changed of [{ plan: sealed.build }, { target: 'almanac' }]) {
    const derived = deriveExpected({ plan, planDigest, sealed: { ...sealed, ...changed } });
    assert.ok(!derived.ok);
    assert.equal(derived.refusal.code, 'release-not-of-plan');
  }
});

test('I4: no path, user, secret or origin of the plan reaches Expected', () => {
  const text = JSON.stringify(expected);
  for (const secret of ['/srv', 'ghost"', 'hush', 'example.test']) assert.ok(!text.includes(secret), secret);
});

test('I4: no further field can enter Expected, at any depth', () => {
  const places: ((extra: object) => object)[] = [
    (extra) => ({ ...expected, ...extra }),
    (extra) => ({ ...expected, runtime: { ...expected.runtime, ...extra } }),
    (extra) => ({ ...expected, health: { ...expected.health, ...extra } }),
    (extra) => ({ ...expected, state: { ...expected.state, ...extra } }),
    (extra) => ({ ...expected, endpoint: { ...expected.endpoint, ...extra } }),
    (extra) => ({ ...expected, capabilities: [{ ...expected.capabilities[0], ...extra }] }),
  ];
  for (const place of places) {
    assert.ok(expectedSchema.safeParse(place({})).success);
    for (const field of ['root', 'path', 'user', 'secret', 'environment', 'command']) {
      assert.ok(!expectedSchema.safeParse(place({ [field]: 'x' })).success, field);
    }
  }
});

test('I4: no field of Expected takes an absolute or climbing path, wherever a word is', () => {
  const paths = fc
    .array(fc.stringMatching(/^[a-z.]{1,8}$/), { minLength: 1, maxLength: 5 })
    .chain((parts) => fc.constantFrom(`/${parts.join('/')}`, `../${parts.join('/')}`, `a/../${parts.join('/')}`));
  fc.assert(
    fc.property(paths, (path) => {
      const places = [
        { ...expected, fleet: path },
        { ...expected, machine: path },
        { ...expected, target: path },
        { ...expected, revision: path },
        { ...expected, signer: path },
        { ...expected, state: { stateId: path, schema: 'a/v1' } },
        { ...expected, state: { stateId: 's', schema: path } },
        { ...expected, endpoint: { ...expected.endpoint, host: path } },
        { ...expected, capabilities: [{ name: path, schema: 'a/v1' }] },
        { ...expected, capabilities: [{ name: 'a', schema: path }] },
      ];
      for (const place of places) assert.ok(!expectedSchema.safeParse(place).success);
    }),
  );
});

test('I4: a fact that is no public word is refused by the name of its field', () => {
  const state = { stateId: '/srv/private', schema: 'ghostlight.journal/v1' };
  const derived = deriveExpected({ plan: { ...plan, state }, planDigest, sealed });
  assert.ok(!derived.ok);
  assert.equal(derived.refusal.code, 'expected-not-publishable');
  assert.match(derived.refusal.reason, /state\.stateId/);
});

test('an incarnation is keyed by its target and the digest of its Expected', () => {
  assert.equal(key, `ghostlight@${digestJson(expected)}`);
  assert.notEqual(key, incarnationKey(sampleExpected({ health: { kind: 'idunn', freshnessMs: 6_000 } })));
});

test('what is no sanitized Expected has no key', () => {
  assert.throws(() => incarnationKey({ ...expected, root: '/srv' } as typeof expected));
});
