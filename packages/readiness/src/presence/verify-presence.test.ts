import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Envelope } from '@idunn/kernel';
import * as fc from 'fast-check';
import type { Presence } from '../model/presence.ts';
import {
  activation,
  activationKey,
  audience,
  foreignKey,
  samplePresence,
  signerKey,
  signPresence,
  verifierOf,
} from '../testing/samples.ts';
import { isFresh, NO_TRAIL, type PresenceTrail, verifyPresence } from './verify-presence.ts';

const verify = (envelope: unknown, trail: PresenceTrail = NO_TRAIL, signer = signerKey) =>
  verifyPresence({
    envelope,
    activation: { activation: activation.activation, key: verifierOf(activationKey) },
    signer: verifierOf(signer),
    audience,
    trail,
  });

function assertRefused(code: string, envelope: unknown, trail?: PresenceTrail): void {
  const verified = verify(envelope, trail);
  assert.ok(!verified.ok, `should be refused as ${code}`);
  assert.equal(verified.refusal.code, code);
}

test('I4: a presence with both signatures, for us, about its activation, is accepted', () => {
  const verified = verify(signPresence(samplePresence()));
  assert.ok(verified.ok);
  assert.deepEqual(verified.value.trail, { sequence: 1, epoch: 7 });
});

test('I4: a signature of the activation alone, of the signer alone, or of strangers is none', () => {
  for (const keys of [[activationKey], [signerKey], [activationKey, foreignKey], [foreignKey, signerKey]]) {
    assertRefused('envelope-not-signed', signPresence(samplePresence(), keys));
  }
});

test('I4: swapped keys fail: the signer does not issue, the activation does not vouch', () => {
  const swapped = { ...samplePresence(), header: { ...samplePresence().header, issuer: signerKey.keyId } };
  assertRefused('envelope-wrong-issuer', signPresence(swapped, [signerKey, activationKey]));
});

test('I4: the signer of another target is a stranger here', () => {
  const verified = verify(signPresence(samplePresence()), NO_TRAIL, foreignKey);
  assert.ok(!verified.ok);
  assert.equal(verified.refusal.code, 'envelope-not-signed');
});

test('I5: a presence of another fleet or machine is worth nothing here', () => {
  for (const elsewhere of [{ fleet: 'other' }, { machine: 'other' }]) {
    const said = samplePresence();
    const header = { ...said.header, audience: { ...audience, ...elsewhere } };
    assertRefused('envelope-wrong-audience', signPresence({ ...said, header }));
  }
});

test('I5: a presence of an earlier activation is worth nothing for this one', () => {
  assertRefused('envelope-wrong-subject', signPresence(samplePresence({ activation: 'activation-0' })));
  const said = samplePresence();
  const header = { ...said.header, subject: activation.activation };
  assertRefused('envelope-wrong-subject', signPresence({ ...said, header, activation: 'activation-0' }));
});

test('I5: sequences rise, and a presence is accepted once', () => {
  const one = signPresence(samplePresence({}, 1));
  const two = signPresence(samplePresence({}, 2));
  const first = verify(two);
  assert.ok(first.ok);
  assertRefused('presence-replayed', two, first.value.trail);
  assertRefused('presence-replayed', one, first.value.trail);
});

test('I5: an epoch that fell is of an earlier lease; none named is no claim at all', () => {
  const trail = { sequence: 1, epoch: 7 };
  assertRefused('presence-epoch-fell', signPresence(samplePresence({ epoch: 6 }, 2)), trail);
  const silent = verify(signPresence(samplePresence({ epoch: null }, 2)), trail);
  assert.ok(silent.ok);
  assert.deepEqual(silent.value.trail, { sequence: 2, epoch: 7 });
});

test('a presence with a field too many, a state of its own, or too long a detail is malformed', () => {
  const odd = [{ command: 'rm' }, { state: 'ready' }, { detail: 'x'.repeat(1001) }, { pid: 0 }, { epoch: 0 }];
  for (const changes of odd) {
    assertRefused('envelope-malformed', signPresence({ ...samplePresence(), ...changes } as unknown as Presence));
  }
});

test('I4: no change to an envelope is ever accepted', () => {
  const honest = signPresence(samplePresence());
  const flip = (base64: string, at: number, bit: number): string => {
    const bytes = Buffer.from(base64, 'base64');
    const index = at % bytes.length;
    bytes[index] = (bytes[index] ?? 0) ^ (1 << bit);
    return bytes.toString('base64');
  };
  const mutations = fc.record({ part: fc.constantFrom(-1, 0, 1), at: fc.nat(4096), bit: fc.nat(7) });
  fc.assert(
    fc.property(mutations, ({ part, at, bit }) => {
      const mutated: Envelope =
        part === -1
          ? { ...honest, payload: flip(honest.payload, at, bit) }
          : {
              ...honest,
              signatures: honest.signatures.map((signature, index) =>
                index === part ? { ...signature, sig: flip(signature.sig, at, bit) } : signature,
              ),
            };
      assert.ok(!verify(mutated).ok);
    }),
    { numRuns: 200 },
  );
});

test('I5: whatever comes in whatever order, the accepted sequences and epochs only rise', () => {
  const words = fc.array(
    fc.record({ sequence: fc.integer({ min: 1, max: 8 }), epoch: fc.option(fc.integer({ min: 1, max: 4 })) }),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(words, (said) => {
      let trail = NO_TRAIL;
      for (const { sequence, epoch } of said) {
        const verified = verify(signPresence(samplePresence({ epoch }, sequence)), trail);
        const rises = sequence > trail.sequence && (epoch === null || epoch >= trail.epoch);
        assert.equal(verified.ok, rises);
        if (!verified.ok) continue;
        assert.ok(verified.value.trail.sequence > trail.sequence && verified.value.trail.epoch >= trail.epoch);
        trail = verified.value.trail;
      }
    }),
    { numRuns: 60 },
  );
});

test('I5, I10: freshness is a span of the monotonic clock, both ends named', () => {
  assert.ok(isFresh(0, 100) && isFresh(100, 100));
  assert.ok(!isFresh(100.1, 100) && !isFresh(-1, 100));
});
