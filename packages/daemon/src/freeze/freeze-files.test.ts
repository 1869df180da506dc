import assert from 'node:assert/strict';
import { mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { digestBytes } from '@idunn/kernel';
import { freezeFiles } from './freeze-files.ts';

test('I8: a missing record admits, a record holds, and whatever cannot be judged holds too', async (t) => {
  const state = await mkdtemp(join(tmpdir(), 'idunn-freeze-'));
  t.after(() => rm(state, { recursive: true }));
  const freezes = await freezeFiles(state);
  const file = join(state, 'freezes/ghostlight.json');
  const kind = async (): Promise<string> => (await freezes.read('ghostlight')).kind;
  assert.equal(await kind(), 'absent');

  const text = JSON.stringify({
    schema: 'idunn.freeze/v1',
    by: 'ada',
    reason: 'release day',
    since: '2026-11-30T00:00:00Z',
  });
  await writeFile(file, text);
  const found = await freezes.read('ghostlight');
  assert.ok(found.kind === 'seen');
  assert.equal(found.value.by, 'ada');
  assert.equal(found.value.record, digestBytes(text));

  for (const wrong of ['', '{}', 'x'.repeat(20_000), text.replace('v1', 'v2')]) {
    await writeFile(file, wrong);
    assert.equal(await kind(), 'unknown');
  }
  await rename(file, `${file}.away`);
  await symlink(`${file}.away`, file);
  assert.equal(await kind(), 'unknown');
  await rename(join(state, 'freezes'), join(state, 'elsewhere'));
  assert.equal(await kind(), 'unknown');
});
