import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { z } from 'zod';
import * as schemas from './index.ts';

/** Every property name in a JSON schema, however deep. */
function names(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(names);
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties = {}, ...rest } = schema as { properties?: Record<string, unknown> };
  return [
    ...Object.keys(properties),
    ...Object.values(properties).flatMap(names),
    ...Object.values(rest).flatMap(names),
  ];
}

test('docs/json.md names every shape and every field of it', async () => {
  const page = await readFile(new URL('../../../../docs/json.md', import.meta.url), 'utf8');
  const missing = Object.entries(schemas).flatMap(([shape, schema]) =>
    schema instanceof z.ZodObject || schema instanceof z.ZodDiscriminatedUnion
      ? names(z.toJSONSchema(schema))
          .filter((name) => !new RegExp(`\\b${name}\\b`).test(page))
          .map((name) => `${shape}.${name}`)
      : [],
  );
  assert.deepEqual(missing, []);
  const documents = Object.values(schemas).flatMap((schema) => {
    if (!(schema instanceof z.ZodObject)) return [];
    const named = (schema.shape as Readonly<Record<string, unknown>>)['schema'];
    return named instanceof z.ZodLiteral ? [String(named.value)] : [];
  });
  assert.ok(documents.length > 10);
  for (const document of documents) assert.ok(page.includes(document), document);
});
