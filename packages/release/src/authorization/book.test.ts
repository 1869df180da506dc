import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import {
  type Clock,
  freshSeed,
  openRecordStore,
  publicKeyOf,
  type SigningKey,
  signingKeyFromSeed,
  signReleaseAuthorization,
} from '@idunn/kernel';
import type { Binding } from '../binding/schema.ts';
import { binding, change, docsExample, refusalOf, valueOf } from '../testing/documents.ts';
import { createAuthorizationBook } from './book.ts';
import { AUTHORIZATION_KIND } from './record.ts';

const COMMIT = 'c'.repeat(40);
const ADA = signingKeyFromSeed(freshSeed());
const BEN = signingKeyFromSeed(freshSeed());
const ANN = { actor: 'ann', tenant: 'local' };

const boundTo = (...keys: readonly SigningKey[]): Binding => {
  const authorizers = keys.map(({ privateKey }) => `"${publicKeyOf(privateKey)}"`).join(', ');
  const selection = `selection = "signed-authorization"\nauthorizers = [${authorizers}]`;
  return binding(change(docsExample('binding'), 'selection = "ref-head"', selection)).binding;
};

const word = (sequence: number, more: Partial<Parameters<typeof signReleaseAuthorization>[0]> = {}, key = ADA) =>
  signReleaseAuthorization(
    {
      fleet: 'home',
      target: 'ghostlight',
      commit: COMMIT,
      build: null,
      notBeforeMs: 1_000,
      notAfterMs: 9_000,
      sequence,
      requestId: `req-${sequence}`,
      ...more,
    },
    key,
  );

async function bench(context: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), 'idunn-book-'));
  context.after(() => rm(directory, { recursive: true }));
  const now = { wallMs: 2_000 };
  const clock: Clock = { wallMs: () => now.wallMs, monotonicMs: () => 0, bootId: 'boot' };
  const file = join(directory, 'records.sqlite');
  const open = async () => {
    const store = await openRecordStore({ file, kinds: [AUTHORIZATION_KIND], clock });
    return { store, book: createAuthorizationBook({ store, clock, fleet: 'home' }) };
  };
  const first = await open();
  const opened = [first];
  context.after(async () => opened.at(-1)?.store.close());
  /** A daemon that was restarted. */
  const reopen = async () => {
    await opened.at(-1)?.store.close();
    const again = await open();
    opened.push(again);
    return again.book;
  };
  return { ...first, now, reopen };
}

test('an accepted word selects its commit, durably, and the history tells it', async (context) => {
  const { book, store, reopen } = await bench(context);
  const bound = boundTo(ADA);
  assert.equal(refusalOf(await book.current(bound)).code, 'authorization-missing');
  const envelope = word(1);
  const accepted = valueOf(await book.accept(bound, envelope, ANN));
  const [entry] = await store.history({ newestFirst: true });
  assert.partialDeepStrictEqual(entry, { kind: 'authorization.accepted', subject: 'ghostlight', actor: 'ann' });
  assert.partialDeepStrictEqual(entry?.body, { commit: COMMIT, sequence: 1, digest: accepted.digest });
  const current = valueOf(await (await reopen()).current(bound));
  assert.equal(current.commit, COMMIT);
  assert.deepEqual(current.frozen, {
    digest: accepted.digest,
    keyId: ADA.keyId,
    publicKey: publicKeyOf(ADA.privateKey),
    sequence: 1,
    build: null,
    notAfter: new Date(9_000).toISOString(),
    envelope,
  });
});

test('I12: a repeat answers as the first time and changes nothing', async (context) => {
  const { book, store } = await bench(context);
  const bound = boundTo(ADA);
  const first = valueOf(await book.accept(bound, word(1), ANN));
  const version = await store.stateVersion();
  const again = valueOf(await book.accept(bound, word(1), { actor: 'bob', tenant: 'local' }));
  assert.deepEqual(again, { ...first, repeated: true });
  assert.equal(await store.stateVersion(), version);
});

test('I5: the sequence of a key only rises; what is superseded is worth nothing', async (context) => {
  const { book } = await bench(context);
  const bound = boundTo(ADA, BEN);
  valueOf(await book.accept(bound, word(5), ANN));
  const other = { commit: 'd'.repeat(40) };
  for (const sequence of [0, 4, 5]) {
    assert.equal(refusalOf(await book.accept(bound, word(sequence, other), ANN)).code, 'authorization-superseded');
  }
  assert.equal(valueOf(await book.current(bound)).commit, COMMIT);
  valueOf(await book.accept(bound, word(6, other), ANN));
  assert.equal(valueOf(await book.current(bound)).commit, other.commit);
  assert.equal(refusalOf(await book.accept(bound, word(5), ANN)).code, 'authorization-superseded');
  // Each key counts for itself, and the word that was accepted last is the one that holds.
  valueOf(await book.accept(bound, word(1, { commit: 'e'.repeat(40) }, BEN), ANN));
  assert.equal(valueOf(await book.current(bound)).commit, 'e'.repeat(40));
  assert.deepEqual(
    (await book.list('ghostlight')).map(({ keyId, authorization }) => [keyId, authorization.header.sequence]),
    [
      [BEN.keyId, 1],
      [ADA.keyId, 6],
    ],
  );
});

test('I5: two words with one sequence that race: one is taken', async (context) => {
  const { book } = await bench(context);
  const bound = boundTo(ADA);
  const outcomes = await Promise.all(
    ['1', '2', '3', '4'].map((digit) => book.accept(bound, word(1, { commit: digit.repeat(40) }), ANN)),
  );
  const codes = outcomes.map((one) => (one.ok ? 'taken' : one.refusal.code)).toSorted();
  assert.deepEqual(codes, [
    'authorization-superseded',
    'authorization-superseded',
    'authorization-superseded',
    'taken',
  ]);
});

test('what is refused: another fleet, target, key, selection, and what is over', async (context) => {
  const { book, now } = await bench(context);
  const bound = boundTo(ADA);
  const codeOf = async (envelope: unknown, at = bound) => refusalOf(await book.accept(at, envelope, ANN)).code;
  assert.equal(await codeOf(word(1, { fleet: 'away' })), 'envelope-wrong-audience');
  assert.equal(await codeOf(word(1, { target: 'almanac' })), 'envelope-wrong-subject');
  assert.equal(await codeOf(word(1, {}, BEN)), 'authorization-key-unknown');
  assert.equal(await codeOf(word(1), binding().binding), 'authorization-not-asked');
  assert.equal(await codeOf({ anything: 'else' }), 'envelope-malformed');
  now.wallMs = 9_000;
  assert.equal(await codeOf(word(1)), 'authorization-expired');
});

test('before its time a word selects nothing, and after it no older word takes its place', async (context) => {
  const { book, now } = await bench(context);
  const bound = boundTo(ADA, BEN);
  valueOf(await book.accept(bound, word(1, {}, BEN), ANN));
  valueOf(await book.accept(bound, word(1, { notBeforeMs: 4_000, notAfterMs: 5_000 }), ANN));
  assert.equal(refusalOf(await book.current(bound)).code, 'authorization-not-yet-valid');
  now.wallMs = 4_000;
  valueOf(await book.current(bound));
  now.wallMs = 5_000;
  assert.equal(refusalOf(await book.current(bound)).code, 'authorization-expired');
});

test('a key that the binding names no more selects nothing', async (context) => {
  const { book } = await bench(context);
  valueOf(await book.accept(boundTo(ADA, BEN), word(1, { commit: 'e'.repeat(40) }, BEN), ANN));
  valueOf(await book.accept(boundTo(ADA, BEN), word(1), ANN));
  assert.equal(valueOf(await book.current(boundTo(BEN))).commit, 'e'.repeat(40));
  const stranger = signingKeyFromSeed(freshSeed());
  assert.equal(refusalOf(await book.current(boundTo(stranger))).code, 'authorization-missing');
});
