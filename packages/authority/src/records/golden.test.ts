import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { canonicalJson } from '@idunn/kernel';
import { RECORD_KINDS } from './kinds.ts';

const golden = new URL('../../golden/', import.meta.url);
const read = (file: string): { kind: string; value: { schema: string } } =>
  JSON.parse(readFileSync(new URL(file, golden), 'utf8')) as { kind: string; value: { schema: string } };
const files = readdirSync(golden);

test('each version of each record kind has a golden file', () => {
  const versions = RECORD_KINDS.flatMap(({ kind, versions }) =>
    Object.keys(versions).map((schema) => `${kind} ${schema}`),
  );
  const covered = new Set(files.map(read).map(({ kind, value }) => `${kind} ${value.schema}`));
  assert.deepEqual(
    versions.filter((version) => !covered.has(version)),
    [],
  );
});

for (const file of files) {
  const { kind, value } = read(file);
  const version = RECORD_KINDS.find((one) => one.kind === kind)?.versions[value.schema];

  test(`golden ${file} reads as it was written`, () => {
    const parsed = version?.safeParse(value);
    assert.equal(parsed?.success, true, JSON.stringify(parsed?.success === false ? parsed.error : null));
    assert.equal(canonicalJson(parsed?.data), canonicalJson(value));
  });

  test(`golden ${file} with a field that nobody knows is refused`, () => {
    assert.equal(version?.safeParse({ ...value, command: 'rm' }).success, false);
  });
}
