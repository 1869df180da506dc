import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkGolden } from '@idunn/kernel/testing';
import { editedSinceRelease, registeredKinds } from './lib/golden.ts';
import { ROOT, readRepository } from './lib/repository.ts';

const repository = readRepository();

for (const { room, name, kinds, golden } of await registeredKinds(repository)) {
  for (const { kind, versions } of kinds) {
    test(`${room}: every version of the record ${kind} (${name}) is read from its golden file`, () => {
      assert.ok(Object.keys(versions).length > 0);
      checkGolden(golden, versions);
    });
  }
}

test('a reader is held to its golden file: one that is missing, or comes out otherwise, is seen', () => {
  const directory = new URL('../../packages/kernel/golden/', import.meta.url);
  const as = (change: object) => ({
    safeParse: (value: unknown) => ({ success: true as const, data: Object.assign({}, value, change) }),
  });
  checkGolden(directory, { 'idunn.key/v1': as({}) });
  assert.throws(() => checkGolden(directory, { 'idunn.key/v1': as({ purpose: 'observer' }) }), /does not come out/);
  assert.throws(() => checkGolden(directory, { 'idunn.key/v2': as({}) }), /no golden file/);
  const never = { safeParse: () => ({ success: false as const, error: { message: 'no longer read' } }) };
  assert.throws(() => checkGolden(directory, { 'idunn.key/v1': never }), /no longer read/);
});

test('no golden file was edited since it was released', () => {
  assert.deepEqual(editedSinceRelease(ROOT), []);
});

test('an edited, a removed and a renamed golden file are seen, a new one is let through', () => {
  const root = mkdtempSync(join(tmpdir(), 'idunn-golden-'));
  const git = (...args: string[]): void => {
    const identity = ['-c', 'user.name=ada', '-c', 'user.email=ada@example.org', '-c', 'commit.gpgsign=false'];
    execFileSync('git', [...identity, ...args], { cwd: root });
  };
  try {
    const folder = join(root, 'packages/kernel/golden');
    mkdirSync(folder, { recursive: true });
    for (const name of ['a', 'b', 'c']) writeFileSync(join(folder, `${name}-v1.json`), `{"${name}":1}\n`);
    git('init', '--quiet');
    git('add', '.');
    git('commit', '--quiet', '--message', 'release');
    git('tag', 'v1.0.0');
    assert.deepEqual(editedSinceRelease(root), []);
    writeFileSync(join(folder, 'd-v1.json'), '{"d":1}\n');
    git('add', '.');
    assert.deepEqual(editedSinceRelease(root), []);
    writeFileSync(join(folder, 'a-v1.json'), '{"a":2}\n');
    unlinkSync(join(folder, 'b-v1.json'));
    git('mv', 'packages/kernel/golden/c-v1.json', 'packages/kernel/golden/e-v1.json');
    assert.deepEqual(
      editedSinceRelease(root).map((line) => line.replace(/^.*\//, '')),
      ['a-v1.json (since v1.0.0)', 'b-v1.json (since v1.0.0)', 'c-v1.json (since v1.0.0)'],
    );
  } finally {
    rmSync(root, { recursive: true });
  }
});
