import assert from 'node:assert/strict';
import { test } from 'node:test';
import { digestJson, publicKeyOf } from '@idunn/kernel';
import * as fc from 'fast-check';
import type { ObserverRequest } from '../link/messages.ts';
import { incarnationKey } from '../model/derive-expected.ts';
import type { IncarnationKey } from '../model/expected.ts';
import {
  activation,
  audience,
  expected,
  foreignKey,
  key,
  observed,
  sampleExpected,
  signerKey,
} from '../testing/samples.ts';
import { decidePublication, livingActivations, type PublicationView } from './decide-publication.ts';
import { type AnchorRecord, type IncarnationRecord, MAX_REPLACED } from './records.ts';

const anchorKey = { keyId: signerKey.keyId, publicKey: publicKeyOf(signerKey.privateKey) };
const anchored = { kind: 'anchor', target: 'ghostlight', keys: [anchorKey] } as const;
const published = { kind: 'publish-expected', incarnation: key, expected } as const;
const activated = { kind: 'publish-activation', activation, observed } as const;

/** A book of a few lines. */
class Book implements PublicationView {
  readonly audience = audience;
  readonly records = new Map<IncarnationKey, IncarnationRecord>();
  readonly anchors = new Map<string, AnchorRecord>();
  get incarnations() {
    return this.records.size;
  }
  incarnation(of: IncarnationKey) {
    return this.records.get(of) ?? null;
  }
  anchor(target: string) {
    return this.anchors.get(target) ?? null;
  }
  /** The refusal's code, or what changed. */
  request(request: ObserverRequest): string {
    const decided = decidePublication(this, request);
    if (!decided.ok) return decided.refusal.code;
    const change = decided.value;
    if (change.kind === 'anchor') this.anchors.set(change.target, change.next);
    else if (change.kind === 'incarnation' && change.next !== null) this.records.set(change.key, change.next);
    else if (change.kind === 'incarnation') this.records.delete(change.key);
    return change.kind;
  }
}

const bookAfter = (...requests: readonly ObserverRequest[]): Book => {
  const book = new Book();
  for (const request of requests) assert.match(book.request(request), /^(anchor|incarnation)$/);
  return book;
};

test('I6: each request is harmless when it is repeated', () => {
  const book = bookAfter(anchored, published, activated);
  assert.equal(book.request(anchored), 'none');
  assert.equal(book.request(published), 'none');
  const before = book.incarnation(key);
  book.request(activated);
  assert.deepEqual(book.incarnation(key), before);
  const demoted: ObserverRequest = { kind: 'demote', incarnation: key, activation: activation.activation };
  assert.equal(book.request(demoted), 'incarnation');
  assert.equal(book.request(demoted), 'none');
  assert.equal(book.request({ kind: 'withdraw', incarnation: key }), 'incarnation');
  assert.equal(book.request({ kind: 'withdraw', incarnation: key }), 'none');
});

test('I4: Expected is published under its own digest, for this fleet and machine, with an enrolled signer', () => {
  const other = `ghostlight@${digestJson('another')}` as const;
  assert.equal(bookAfter(anchored).request({ ...published, incarnation: other }), 'expected-key-mismatch');
  for (const elsewhere of [sampleExpected({ fleet: 'other' }), sampleExpected({ machine: 'other' })]) {
    const foreign = { kind: 'publish-expected', incarnation: incarnationKey(elsewhere), expected: elsewhere } as const;
    assert.equal(bookAfter(anchored).request(foreign), 'expected-foreign');
  }
  assert.equal(new Book().request(published), 'anchor-missing');
  const strangers = sampleExpected({ signer: { keyId: foreignKey.keyId } });
  const unsigned = { kind: 'publish-expected', incarnation: incarnationKey(strangers), expected: strangers } as const;
  assert.equal(bookAfter(anchored).request(unsigned), 'anchor-missing');
});

test('I4: an anchor or activation that names a key under the id of another is refused', () => {
  const swapped = { keyId: signerKey.keyId, publicKey: publicKeyOf(foreignKey.privateKey) };
  assert.equal(new Book().request({ ...anchored, keys: [swapped] }), 'anchor-malformed');
  const odd: ObserverRequest = { ...activated, activation: { ...activation, publicKey: swapped.publicKey } };
  assert.equal(bookAfter(anchored, published).request(odd), 'anchor-malformed');
});

test('I4: an activation is published only under an Expected that was', () => {
  assert.equal(bookAfter(anchored).request(activated), 'expected-unknown');
});

const demotion = (id: string) => ({ kind: 'demote', incarnation: key, activation: id }) as const;
const launched = (id: string) => ({ ...activated, activation: { ...activation, activation: id } });

test('I5: an activation that was demoted is never current again', () => {
  const book = bookAfter(anchored, published, activated, demotion(activation.activation));
  assert.equal(book.request(activated), 'activation-past');
});

test('I7: a candidate of the same build takes the place of the incumbent’s activation, and gives it back', () => {
  const book = bookAfter(anchored, published, activated, launched('activation-2'));
  assert.equal(book.request(demotion('activation-2')), 'incarnation');
  assert.equal(book.request(activated), 'incarnation');
  const record = book.incarnation(key);
  assert.deepEqual(livingActivations(record), [activation.activation]);
  assert.deepEqual(record?.spent, ['activation-2']);
});

test('I5: an activation that was replaced can be demoted for good, and then leaves the current one alone', () => {
  const book = bookAfter(anchored, published, activated, launched('activation-2'), demotion(activation.activation));
  assert.equal(book.incarnation(key)?.current?.activation.activation, 'activation-2');
  assert.equal(book.request(activated), 'activation-past');
});

test('what may return is bounded: the oldest are spent', () => {
  const many = Array.from({ length: MAX_REPLACED + 3 }, (_, index) => launched(`activation-${index + 2}`));
  const record = bookAfter(anchored, published, activated, ...many).incarnation(key);
  assert.equal(record?.replaced.length, MAX_REPLACED);
  assert.deepEqual(record?.spent, ['activation-1', 'activation-2', 'activation-3']);
});

test('only the activation that is current can be demoted', () => {
  const demoted: ObserverRequest = { kind: 'demote', incarnation: key, activation: 'activation-0' };
  const book = bookAfter(anchored, published, activated);
  assert.equal(book.request(demoted), 'activation-not-current');
  assert.equal(book.incarnation(key)?.current?.activation.activation, activation.activation);
});

test('I7: whatever is asked about a candidate, the incumbent beside it keeps what it has', () => {
  const candidate = sampleExpected({ health: { kind: 'idunn', freshnessMs: 6_000 } });
  const candidateKey = incarnationKey(candidate);
  const ids = fc.constantFrom('activation-1', 'activation-2', 'activation-3');
  const request: fc.Arbitrary<ObserverRequest> = fc.oneof(
    fc.constant({ kind: 'publish-expected', incarnation: candidateKey, expected: candidate } as const),
    ids.map((id) => ({ ...activated, activation: { ...activation, activation: id, incarnation: candidateKey } })),
    ids.map((id) => ({ kind: 'demote', incarnation: candidateKey, activation: id }) as const),
    fc.constant({ kind: 'withdraw', incarnation: candidateKey } as const),
  );
  fc.assert(
    fc.property(fc.array(request, { maxLength: 12 }), (requests) => {
      const book = bookAfter(anchored, published, activated);
      const incumbent = book.incarnation(key);
      for (const one of requests) book.request(one);
      assert.equal(book.incarnation(key), incumbent);
    }),
  );
});
