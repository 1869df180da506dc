import assert from 'node:assert/strict';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Envelope, openReleaseAuthorization, verificationKey } from '@idunn/kernel';
import { run } from './run.ts';
import { type Answers, type Handler, stage } from './testing/stage.ts';

const COMMIT = 'd'.repeat(40);
const LIST = 'GET /v1/targets/ghostlight/authorizations';
const SUBMIT = 'POST /v1/authorizations';

const empty = {
  schema: 'idunn.authorizations/v1',
  fleet: 'test',
  target: 'ghostlight',
  authorizers: [],
  current: null,
  refusal: { code: 'authorization-missing', reason: 'Nobody said a word.', remedy: 'Say one.' },
  authorizations: [],
};

const answer = {
  schema: 'idunn.authorization/v1',
  digest: `sha256:${'a'.repeat(64)}`,
  target: 'ghostlight',
  keyId: 'ed25519:00',
  sequence: 1,
  commit: COMMIT,
  build: null,
  notBefore: '2026-11-30T00:01:00.000Z',
  notAfter: '2026-12-07T00:01:00.000Z',
  acceptedAt: '2026-11-30T00:01:00.000Z',
  actor: 'operator',
  repeated: false,
  envelope: {},
};

/** A stage, and a person with a key. */
async function person(t: TestContext, answers: Answers = {}) {
  const at = await stage(t, { [LIST]: empty, [SUBMIT]: answer, ...answers });
  const file = join(at.fleet, 'ada/authorizer');
  assert.equal(await run(at.environment(['key', 'authorizer', file, '--json'])), 0);
  const { keyId, publicKey } = JSON.parse(at.out.splice(0).join('')) as { keyId: string; publicKey: string };
  const submitted = () =>
    at.asked.filter(({ what }) => what === SUBMIT).map(({ body }) => body as { envelope: Envelope });
  const opened = (envelope: unknown, fleet = 'test') => {
    const keys = [verificationKey(publicKey)];
    const word = openReleaseAuthorization({ envelope, keys, fleet, target: 'ghostlight' });
    if (!word.ok) throw new Error(word.refusal.reason);
    return word.value.payload;
  };
  return { ...at, file, keyId, publicKey, submitted, opened };
}

test('key authorizer makes a key of its own purpose that only its owner reads, and never a second one', async (t) => {
  const { file, environment, publicKey, out, err } = await person(t);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  assert.equal(await run(environment(['key', 'show', file])), 0);
  assert.match(out.join(''), /release-authorization/);
  assert.ok(out.join('').includes(publicKey));
  assert.equal(await run(environment(['key', 'authorizer', file])), 3);
  assert.match(err.join(''), /key-exists/);
  out.length = 0;
  assert.equal(await run(environment(['key', 'authorizer'])), 0);
  assert.match(out.join(''), /In the binding: authorizers = \["/);
});

test('authorize signs for the fleet, with the next number of this key, for seven days', async (t) => {
  const { environment, file, submitted, opened, out, keyId } = await person(t);
  const words = ['authorize', 'ghostlight', '--commit', COMMIT, '--key', file];
  assert.equal(await run(environment(words)), 0);
  assert.match(out.join(''), /authorized {2}ghostlight/);
  const payload = opened(submitted()[0]?.envelope);
  assert.partialDeepStrictEqual(payload, {
    header: { audience: { fleet: 'test', machine: '*' }, subject: 'ghostlight', sequence: 1, issuer: keyId },
    commit: COMMIT,
    build: null,
    notBefore: '2026-11-30T00:01:00.000Z',
    notAfter: '2026-12-07T00:01:00.000Z',
  });
});

test('the number rises from what the daemon knows of this very key', async (t) => {
  const known: { keyId: string } = { keyId: '' };
  const listing: Handler = (_request, response) => {
    const of = (keyId: string, sequence: number) => ({ ...answer, keyId, sequence });
    response.end(JSON.stringify({ ...empty, authorizations: [of('ed25519:other', 90), of(known.keyId, 7)] }));
  };
  const { environment, file, submitted, opened, keyId } = await person(t, { [LIST]: listing });
  known.keyId = keyId;
  const build = `sha256:${'b'.repeat(64)}`;
  const words = [
    'authorize',
    'ghostlight',
    '--commit',
    COMMIT,
    '--key',
    file,
    '--build',
    build,
    '--until',
    '2027-01-31',
  ];
  assert.equal(await run(environment(words)), 0);
  const payload = opened(submitted()[0]?.envelope);
  assert.deepEqual([payload.header.sequence, payload.build, payload.notAfter], [8, build, '2027-01-31T00:00:00.000Z']);
});

test('what was signed without a daemon is kept by another one', async (t) => {
  const { environment, fleet, file, submitted, opened, out, asked } = await person(t);
  const signing = ['authorize', 'ghostlight', '--for', 'prod', '--commit', COMMIT, '--sequence', '3', '--key', file];
  assert.equal(await run(environment(signing)), 0);
  assert.deepEqual(asked, []);
  const envelope = out.splice(0).join('');
  assert.equal(opened(JSON.parse(envelope), 'prod').header.sequence, 3);
  await writeFile(join(fleet, 'word.json'), envelope);
  assert.equal(await run(environment(['authorize', 'ghostlight', '--envelope', join(fleet, 'word.json')])), 0);
  assert.deepEqual(submitted()[0], { target: 'ghostlight', envelope: JSON.parse(envelope) as unknown });
});

test('F6: wrong words ask nothing, and a key that is not there or cannot sign is named', async (t) => {
  const { environment, asked, err, fleet } = await person(t);
  for (const words of [
    ['--commit', 'main'],
    ['--commit', COMMIT, '--list'],
    [],
    ['--for', 'prod', '--commit', COMMIT],
    ['--commit', COMMIT, '--until', 'soon'],
    ['--commit', COMMIT, '--build', 'sha256:1'],
    ['--help'],
  ]) {
    const code = await run(environment(['authorize', 'ghostlight', ...words]));
    assert.equal(code, words[0] === '--help' ? 0 : 2, words.join(' '));
  }
  assert.deepEqual(asked, []);
  const words = ['authorize', 'ghostlight', '--commit', COMMIT, '--key', join(fleet, 'nowhere')];
  assert.equal(await run(environment(words)), 3);
  assert.match(err.join(''), /key-missing/);
  assert.ok(!asked.some(({ what }) => what === SUBMIT));
});

test('authorize --list shows what holds, or why nothing does', async (t) => {
  const { environment, out } = await person(t);
  assert.equal(await run(environment(['authorize', 'ghostlight', '--list'])), 0);
  assert.match(out.join(''), /Nobody said a word/);
});
