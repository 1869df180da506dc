import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { canonicalJson } from '@idunn/kernel';
import { checkGolden, goldenName } from '@idunn/kernel/testing';
import { editedSinceRelease, goldenFiles, registeredKinds } from './lib/golden.ts';
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

test('a golden file is one line of canonical JSON under the name of its schema', () => {
  const wrong = [...repository.rooms.keys()].flatMap((room) =>
    goldenFiles(room).filter((file) => {
      const text = readFileSync(join(ROOT, 'packages', room, 'golden', file), 'utf8');
      const value = JSON.parse(text) as { schema?: string };
      return goldenName(value.schema ?? '') !== file || `${canonicalJson(value)}\n` !== text;
    }),
  );
  assert.deepEqual(wrong, []);
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
