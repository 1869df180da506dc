import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFleet, refusalOf } from './lib/fleet.ts';

test('a target whose commits are selected by signed authorization, from the key to the proof', async (t) => {
  const fleet = await makeFleet(t);
  const first = await fleet.commit({ NOTE: 'one\n' });
  const file = join(fleet.work, 'authorizer');
  const made = await fleet.idunn('key', 'authorizer', file, '--json');
  assert.equal(made.code, 0, made.err);
  const { publicKey, keyId } = JSON.parse(made.out) as { publicKey: string; keyId: string };
  await fleet.bind((text) =>
    text.replace('[source]', `[source]\nselection = "signed-authorization"\nauthorizers = ["${publicKey}"]`),
  );
  await fleet.daemon();
  const authorize = (...words: readonly string[]) =>
    fleet.idunn('authorize', 'ghostlight', '--key', file, '--json', ...words);

  const unasked = await fleet.up('ghostlight');
  assert.deepEqual([unasked.code, refusalOf(unasked.outcome).code], [3, 'authorization-missing']);

  const word = await authorize('--commit', first);
  assert.equal(word.code, 0, word.out + word.err);
  const { digest, envelope } = JSON.parse(word.out) as { digest: string; envelope: unknown };
  const second = await fleet.commit({ NOTE: 'two\n' });
  const admitted = await fleet.up('ghostlight');
  assert.equal(admitted.code, 0, JSON.stringify(admitted.outcome));
  assert.equal(admitted.outcome.revision, first);
  assert.match((await fleet.idunn('history', 'ghostlight')).out, /authorization\.accepted/);
  assert.match((await fleet.idunn('inspect', digest)).out, new RegExp(keyId));
  assert.match((await fleet.idunn('key', 'list')).out, /ghostlight\/authorizer\/1/);
  const plan = JSON.parse((await fleet.idunn('plan', 'ghostlight', '--json')).out) as {
    source: { authorization: { digest: string; envelope: unknown } };
  };
  assert.deepEqual(plan.source.authorization.envelope, envelope);

  const verified = await fleet.idunn('verify', 'ghostlight', '--json');
  assert.equal(verified.code, 0, verified.out + verified.err);
  const { checks } = JSON.parse(verified.out) as { checks: readonly { check: string; verdict: string }[] };
  assert.equal(checks.find(({ check }) => check === 'release authorization')?.verdict, 'ok');

  const ahead = await fleet.up('ghostlight', '--ref', second);
  assert.deepEqual([ahead.code, refusalOf(ahead.outcome).code], [3, 'ref-not-admitted']);
  const replayed = await authorize('--commit', second, '--sequence', '1');
  assert.equal(replayed.code, 3);
  assert.match(replayed.out, /authorization-superseded/);
  assert.equal((await authorize('--commit', second, '--until', '1d')).code, 0);
  const next = await fleet.up('ghostlight');
  assert.equal(next.outcome.revision, second);

  // A build that nothing here comes to: the steps run, and the incumbent never hears of it.
  assert.equal((await authorize('--commit', first, '--build', `sha256:${'0'.repeat(64)}`)).code, 0);
  const other = await fleet.up('ghostlight');
  assert.deepEqual([other.code, refusalOf(other.outcome).code], [5, 'authorization-build-mismatch']);
  const still = await fleet.idunn('status', 'ghostlight', '--json');
  assert.match(still.out, new RegExp(second));
});
