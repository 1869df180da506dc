import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import {
  type Digest,
  type Outcome,
  ok,
  openReleaseAuthorization,
  publicKeyOf,
  refusal,
  refused,
  signReleaseAuthorization,
  verificationKey,
} from '@idunn/kernel';
import { type Authorized, type Plan, planDigest, verifyAuthorization } from '@idunn/release';
import { temporary } from '../git/testing/repository.ts';
import { appRepository, bench, bindingText, key, never, refusalOf, silent, valueOf } from './testing/fleet.ts';

const publicKey = publicKeyOf(key.privateKey);

/** What an authorizer said about the app of the fleet at home. */
function authorized(commit: string, build: Digest | null = null, sequence = 1): Authorized {
  const words = { fleet: 'home', target: 'app', commit, build, notBeforeMs: 1, notAfterMs: 2, requestId: 'r' };
  const envelope = signReleaseAuthorization({ ...words, sequence }, key);
  const keys = [verificationKey(publicKey)];
  const { digest, payload } = valueOf(openReleaseAuthorization({ envelope, keys, fleet: 'home', target: 'app' }));
  const { notAfter } = payload;
  return { commit, frozen: { digest, keyId: key.keyId, publicKey, sequence, build, notAfter, envelope } };
}

async function authorizing(context: TestContext) {
  const { repository, first } = await appRepository(`${await temporary(context)}/app`);
  let says: Outcome<Authorized> = refused(refusal('authorization-missing', 'Nobody said a word.'));
  const text = bindingText(repository.path, first).replace(
    'minimum_revision',
    `selection = "signed-authorization"\nauthorizers = ["${publicKey}"]\nminimum_revision`,
  );
  const base = await bench(context, {
    bindings: { app: text },
    authorizations: { current: () => Promise.resolve(says) },
  });
  const plan = async (word: Outcome<Authorized>, ref?: string) => {
    says = word;
    return base.release.plan(ref === undefined ? { target: 'app' } : { target: 'app', ref }, never());
  };
  const seal = (planned: Plan) => base.release.seal(planned, never(), silent);
  return { ...base, repository, first, plan, seal };
}

test('F1: without a word nothing is asked of the origin', async (context) => {
  const { plan, calls } = await authorizing(context);
  assert.equal(refusalOf(await plan(refused(refusal('authorization-missing', 'no')))).code, 'authorization-missing');
  assert.equal(calls.resolve, 0);
});

test('the authorized commit is planned, wherever the ref has gone, and its word is frozen whole', async (context) => {
  const { plan, seal, first, repository } = await authorizing(context);
  await repository.write('server.js', 'console.log("two")\n');
  const second = await repository.commit('second');
  const word = authorized(first);
  const { plan: planned } = valueOf(await plan(ok(word)));
  assert.equal(planned.source.commit, first);
  assert.equal(planned.source.selection, 'signed-authorization');
  assert.deepEqual(planned.source.authorization, word.frozen);
  assert.equal(valueOf(verifyAuthorization(planned)), 'proven');
  // Another word for the same commit is another plan.
  const { plan: again } = valueOf(await plan(ok(authorized(first, null, 2))));
  assert.notEqual(planDigest(again), planDigest(planned));
  assert.equal(valueOf(await plan(ok(word), first)).plan.source.commit, first);
  assert.equal(refusalOf(await plan(ok(word), second)).code, 'ref-not-admitted');
  valueOf(await seal(planned));
});

test('a word for a commit outside the ref, or before the minimum revision, is refused', async (context) => {
  const { plan, repository } = await authorizing(context);
  assert.equal(refusalOf(await plan(ok(authorized('f'.repeat(40))))).code, 'source-commit-missing');
  await repository.git('checkout', '--quiet', '--orphan', 'fresh');
  const fresh = await repository.commit('unrelated');
  assert.equal(refusalOf(await plan(ok(authorized(fresh)))).code, 'source-commit-missing');
  await repository.git('branch', '--force', 'main', 'fresh');
  assert.equal(refusalOf(await plan(ok(authorized(fresh)))).code, 'minimum-revision-unproven');
});

test('I2: only the build that the word names is sealed', async (context) => {
  const { plan, seal, first } = await authorizing(context);
  const { plan: planned } = valueOf(await plan(ok(authorized(first, `sha256:${'0'.repeat(64)}`))));
  const other = refusalOf(await seal(planned));
  assert.equal(other.code, 'authorization-build-mismatch');
  const [build] = /sha256:(?!0{64})[0-9a-f]{64}/.exec(other.reason) ?? [];
  const { plan: right } = valueOf(await plan(ok(authorized(first, build as Digest, 2))));
  assert.equal(valueOf(await seal(right)).build, build);
});

test('I5: a plan whose word was forged, or is of another commit, is not sealed', async (context) => {
  const { plan, seal, first, calls } = await authorizing(context);
  const word = authorized(first);
  const { plan: planned } = valueOf(await plan(ok(word)));
  const withWord = (frozen: Partial<Authorized['frozen']>): Plan => ({
    ...planned,
    source: { ...planned.source, authorization: { ...word.frozen, ...frozen } },
  });
  const other = authorized('e'.repeat(40)).frozen;
  assert.equal(refusalOf(await seal(withWord({ envelope: other.envelope }))).code, 'ref-not-admitted');
  const forged = { ...word.frozen.envelope, signatures: other.envelope.signatures };
  assert.equal(refusalOf(await seal(withWord({ envelope: forged }))).code, 'authorization-key-unknown');
  assert.equal(calls.run, 0);
});
