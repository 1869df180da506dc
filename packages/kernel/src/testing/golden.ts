import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { canonicalJson } from '../canonical.ts';
import type { Shape } from '../crypto/open-envelope.ts';

/** The golden file of a schema: `idunn.transaction/v1` is kept in `transaction-v1.json`. */
export const goldenName = (schema: string): string => `${schema.replace(/^idunn\./, '').replace('/', '-')}.json`;

/**
 * Holds each reader against its golden file: one line of RFC 8785 JSON that the reader takes and that comes out again
 * byte for byte. A golden file is never edited: what was once written must be readable for ever, or be migrated.
 * `directory` is the package's `golden/`.
 */
export function checkGolden(directory: URL, versions: Readonly<Record<string, Shape<unknown>>>): void {
  for (const [schema, reader] of Object.entries(versions)) {
    const text = readFileSync(new URL(goldenName(schema), directory), 'utf8');
    const value: unknown = JSON.parse(text);
    assert.equal((value as { schema?: unknown }).schema, schema, `${goldenName(schema)} is of another schema`);
    const read = reader.safeParse(value);
    assert.ok(read.success, `${schema}: ${read.success ? '' : read.error.message}`);
    assert.equal(`${canonicalJson(read.data)}\n`, text, `${schema} does not come out as it went in`);
  }
}
