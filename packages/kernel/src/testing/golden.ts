import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { canonicalJson } from '../canonical.ts';
import type { Shape } from '../crypto/open-envelope.ts';

/** A record as it was once written: the file's own value, or its `value` member beside notes about it. */
interface GoldenRecord {
  readonly file: string;
  readonly value: { readonly schema: string };
}

/** Every record among the JSON files of a `golden/` folder. */
function goldenRecords(directory: URL): readonly GoldenRecord[] {
  return readdirSync(directory)
    .filter((file) => file.endsWith('.json'))
    .flatMap((file) => {
      const whole = JSON.parse(readFileSync(new URL(file, directory), 'utf8')) as { value?: unknown };
      const value = [whole, whole.value].find(isRecord);
      return value === undefined ? [] : [{ file, value }];
    });
}

const isRecord = (value: unknown): value is GoldenRecord['value'] =>
  typeof value === 'object' && value !== null && 'schema' in value && typeof value.schema === 'string';

/**
 * Holds each reader against the golden files of its schema, at least one in `NAME-v1.json`: the reader takes the
 * record, and it comes out again in the same canonical bytes. A golden file is never edited: what was once written must
 * be readable for ever, or be migrated. `directory` is the package's `golden/`.
 */
export function checkGolden(directory: URL, versions: Readonly<Record<string, Shape<unknown>>>): void {
  const records = goldenRecords(directory);
  for (const [schema, reader] of Object.entries(versions)) {
    const mine = records.filter(({ value }) => value.schema === schema);
    assert.ok(mine.length > 0, `${schema} has no golden file`);
    for (const { file, value } of mine) {
      const read = reader.safeParse(value);
      assert.ok(read.success, `${file}: ${read.success ? '' : read.error.message}`);
      assert.equal(canonicalJson(read.data), canonicalJson(value), `${file} does not come out as it went in`);
    }
  }
}
