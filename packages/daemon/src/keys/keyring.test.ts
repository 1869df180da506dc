import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { systemClock } from '@idunn/kernel';
import { openKeyring } from './keyring.ts';

async function stateDirectory(t: TestContext): Promise<string> {
  const state = await mkdtemp(join(tmpdir(), 'idunn-keys-'));
  t.after(() => rm(state, { recursive: true }));
  return state;
}

test('a target’s signer is made when its binding is admitted, once, for its owner only', async (t) => {
  const state = await stateDirectory(t);
  const keyring = openKeyring(state, systemClock());
  const missing = await keyring.signer('ghostlight');
  assert.equal(missing.ok ? '' : missing.refusal.code, 'key-missing');
  const made = await keyring.admit('ghostlight');
  const again = await openKeyring(state, systemClock()).admit('ghostlight');
  assert.ok(made.ok && again.ok);
  assert.equal(again.value.record.keyId, made.value.record.keyId);
  assert.equal((await stat(join(state, 'keys/signers/ghostlight'))).mode & 0o777, 0o600);
  const other = await keyring.create('ghostlight');
  assert.equal(other.ok ? '' : other.refusal.code, 'key-exists');
  assert.ok((await keyring.authority()).ok);
  assert.deepEqual(
    (await keyring.list()).keys.map(({ name, purpose }) => [name, purpose]),
    [
      ['authority', 'authority'],
      ['ghostlight', 'service-signer'],
    ],
  );
});

test('I9: a machine whose wall clock is wrong signs on with the keys that it has', async (t) => {
  const state = await stateDirectory(t);
  const at = (wallMs: number) => openKeyring(state, { ...systemClock(), wallMs: () => wallMs });
  const made = [await at(Date.UTC(2026, 10)).authority(), await at(Date.UTC(2026, 10)).admit('ghostlight')];
  for (const wallMs of [0, Date.UTC(2026, 9), Date.UTC(2099, 0)]) {
    const keyring = at(wallMs);
    const now = [await keyring.authority(), await keyring.signer('ghostlight')];
    assert.deepEqual(
      now.map((key) => (key.ok ? key.value.record : key.refusal)),
      made.map((key) => key.ok && key.value.record),
    );
  }
});

test('I10: a key whose public record cannot be read is listed with the reason, not left out', async (t) => {
  const state = await stateDirectory(t);
  const keyring = openKeyring(state, systemClock());
  await keyring.authority();
  await keyring.admit('ghostlight');
  await writeFile(join(state, 'keys/signers/ghostlight.json'), 'no record');
  const { keys, unreadable } = await keyring.list();
  assert.deepEqual(
    keys.map(({ name }) => name),
    ['authority'],
  );
  assert.deepEqual(
    unreadable.map(({ name, refusal }) => [name, refusal.code]),
    [['ghostlight', 'key-malformed']],
  );
});

test('a key that others may have read is refused, never replaced', async (t) => {
  const state = await stateDirectory(t);
  const keyring = openKeyring(state, systemClock());
  await keyring.admit('ghostlight');
  await chmod(join(state, 'keys/signers/ghostlight'), 0o644);
  const refused = await keyring.admit('ghostlight');
  assert.equal(refused.ok ? '' : refused.refusal.code, 'key-readable-by-others');
});
