import assert from 'node:assert/strict';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  ACTIVATION,
  ACTIVATION_KEY,
  makeActivation,
  OTHER,
  SIGNER_KEY,
  STRANGER_KEY,
  scratch,
} from '../testing/authority.ts';
import { code } from '../testing/code.ts';
import { readActivation, refuseLongSocketPath } from './directory.ts';

test('an activation directory gives identity, keys and secrets', (t) => {
  const directory = makeActivation(scratch(t), { secrets: { 'api-token': 'tok-123456\n' } });
  const activation = readActivation(directory, ACTIVATION);
  assert.equal(activation.launch.activation, ACTIVATION);
  assert.deepEqual(
    activation.keys.map((key) => key.keyId),
    [ACTIVATION_KEY.keyId, SIGNER_KEY.keyId],
  );
  assert.equal(activation.secrets.value('api-token'), 'tok-123456\n');
  for (const name of ['other', '../activation.key']) {
    assert.throws(() => activation.secrets.value(name), code('workload-secret-unknown'));
  }
});

test('I5: a directory of another activation, or one that the authority did not sign, is refused', (t) => {
  const directory = makeActivation(scratch(t));
  assert.throws(() => readActivation(directory, OTHER), code('workload-launch-invalid'));
  const forged = makeActivation(scratch(t), { signedWith: STRANGER_KEY });
  assert.throws(() => readActivation(forged, ACTIVATION), code('workload-launch-invalid'));
  const path = join(directory, 'launch.json');
  writeFileSync(path, readFileSync(path, 'utf8').slice(0, -9));
  assert.throws(() => readActivation(directory, ACTIVATION), code('workload-launch-invalid'));
});

test('F30: a credential that others can read is not used', (t) => {
  for (const name of ['activation.key', 'signer.key']) {
    const directory = makeActivation(scratch(t));
    chmodSync(join(directory, name), 0o640);
    assert.throws(() => readActivation(directory, ACTIVATION), code('workload-credential-exposed'));
  }
  const directory = makeActivation(scratch(t), { secrets: { token: 'x' } });
  chmodSync(join(directory, 'secrets', 'token'), 0o604);
  assert.throws(
    () => readActivation(directory, ACTIVATION).secrets.value('token'),
    code('workload-credential-exposed'),
  );
});

test('F30: what was read as a secret is taken out of every text', (t) => {
  const secrets = { token: 'tok-123456\n', longer: 'tok-123456-and-more', tiny: 'ab' };
  const activation = readActivation(makeActivation(scratch(t), { secrets }), ACTIVATION);
  for (const name of Object.keys(secrets)) activation.secrets.value(name);
  assert.equal(
    activation.secrets.redact('ab: tok-123456-and-more, then tok-123456.'),
    'ab: [secret longer], then [secret token].',
  );
});

test('a socket path that does not fit into an address is refused by name', () => {
  refuseLongSocketPath(`/${'a'.repeat(106)}`);
  assert.throws(() => refuseLongSocketPath(`/${'a'.repeat(107)}`), code('workload-socket-path-too-long'));
  assert.throws(() => refuseLongSocketPath(`/${'ä'.repeat(54)}`), code('workload-socket-path-too-long'));
});
