import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmod,
  chown,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Outcome } from '../refusal.ts';
import { createKeyFile, keyRecordPath, loadKeyFile, loadKeyRecord, readSeedFile, writeSeedFile } from './key-file.ts';
import { freshSeed } from './keys.ts';

const span = { notBeforeMs: Date.parse('2026-01-01T00:00:00Z'), notAfterMs: Date.parse('2027-01-01T00:00:00Z') };
const authority = { purpose: 'authority', ...span } as const;
const wanted = { purpose: 'authority', wallMs: Date.parse('2026-06-01T00:00:00Z') } as const;
const codeOf = (outcome: Outcome<unknown>): string => (outcome.ok ? 'ok' : outcome.refusal.code);

async function inDirectory(run: (file: string, directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'idunn-key-'));
  try {
    await run(join(directory, 'authority.key'), directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}

test('a key is one line of base64 in a 0600 file and a public record beside it', () =>
  inDirectory(async (file, directory) => {
    const created = await createKeyFile(file, authority);
    assert.ok(created.ok);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.match(await readFile(file, 'utf8'), /^[A-Za-z0-9+/]{43}=\n$/);
    const loaded = await loadKeyFile(file, wanted);
    assert.ok(loaded.ok);
    assert.deepEqual(loaded.value.record, created.value.record);
    assert.ok(loaded.value.signingKey.privateKey.equals(created.value.signingKey.privateKey));
    assert.deepEqual((await readdir(directory)).toSorted(), ['authority.key', 'authority.key.json']);
  }));

test('a key is never overwritten', () =>
  inDirectory(async (file) => {
    const created = await createKeyFile(file, authority);
    assert.ok(created.ok);
    assert.equal(codeOf(await createKeyFile(file, authority)), 'key-exists');
    assert.equal(codeOf(await writeSeedFile(file, freshSeed())), 'key-exists');
    const loaded = await loadKeyFile(file, wanted);
    assert.ok(loaded.ok);
    assert.equal(loaded.value.record.keyId, created.value.record.keyId);
  }));

test('of several creators at once one makes the key', () =>
  inDirectory(async (file) => {
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => createKeyFile(file, authority)));
    assert.deepEqual(outcomes.map(codeOf).toSorted(), [...Array.from({ length: 7 }, () => 'key-exists'), 'ok']);
    assert.equal(codeOf(await loadKeyFile(file, wanted)), 'ok');
  }));

test('I6: a creation that died between the two files is finished with the same key', () =>
  inDirectory(async (file) => {
    const seed = await writeSeedFile(file, freshSeed());
    assert.ok(seed.ok);
    assert.equal(codeOf(await loadKeyFile(file, wanted)), 'key-missing');
    const created = await createKeyFile(file, authority);
    assert.ok(created.ok);
    assert.equal(created.value.record.keyId, seed.value.keyId);
  }));

test('a public record alone is somebody else’s key and stays', () =>
  inDirectory(async (file) => {
    await createKeyFile(file, authority);
    await unlink(file);
    const before = await readFile(keyRecordPath(file), 'utf8');
    assert.equal(codeOf(await createKeyFile(file, authority)), 'key-exists');
    assert.equal(codeOf(await loadKeyFile(file, wanted)), 'key-missing');
    assert.equal(await readFile(keyRecordPath(file), 'utf8'), before);
  }));

test('a key that others can read is refused, bit by bit', () =>
  inDirectory(async (file) => {
    await createKeyFile(file, authority);
    for (const bit of [0o001, 0o002, 0o004, 0o010, 0o020, 0o040]) {
      await chmod(file, 0o600 | bit);
      assert.equal(codeOf(await loadKeyFile(file, wanted)), 'key-readable-by-others', bit.toString(8));
    }
    await chmod(file, 0o400);
    assert.equal(codeOf(await loadKeyFile(file, wanted)), 'ok');
    if (process.geteuid?.() === 0) {
      await chown(file, 12_345, 0);
      assert.equal(codeOf(await loadKeyFile(file, wanted)), 'key-readable-by-others');
    }
  }));

test('what is not a key file is refused as malformed', () =>
  inDirectory(async (file, directory) => {
    await createKeyFile(file, authority);
    await writeFile(file, 'not a key\n');
    assert.equal(codeOf(await loadKeyFile(file, wanted)), 'key-malformed');
    await writeFile(file, `${freshSeed()}\n`);
    assert.equal(codeOf(await loadKeyFile(file, wanted)), 'key-malformed', 'another key’s record');
    await rename(file, join(directory, 'elsewhere'));
    await symlink(join(directory, 'elsewhere'), file);
    assert.equal(codeOf(await readSeedFile(file)), 'key-malformed');
    await chmod(directory, 0o700);
    assert.equal(codeOf(await readSeedFile(directory)), 'key-malformed');
  }));

test('a record that is no record is refused as malformed', () =>
  inDirectory(async (file) => {
    assert.equal(codeOf(await loadKeyRecord(file)), 'key-missing');
    for (const text of ['', '{}', '[]', `{"schema":"${'x'.repeat(5000)}"}`]) {
      await writeFile(file, text);
      assert.equal(codeOf(await loadKeyRecord(file)), 'key-malformed');
    }
    await rm(file);
    execFileSync('mkfifo', [file]);
    assert.equal(codeOf(await loadKeyRecord(file)), 'key-malformed', 'nobody waits for a pipe');
  }));

test('a key is loaded for its purpose and within its span only', () =>
  inDirectory(async (file) => {
    await createKeyFile(file, authority);
    assert.equal(codeOf(await loadKeyFile(file, { ...wanted, purpose: 'observer' })), 'key-wrong-purpose');
    assert.equal(codeOf(await loadKeyFile(file, { ...wanted, wallMs: span.notAfterMs })), 'key-expired');
  }));
