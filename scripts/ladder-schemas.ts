import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { jsonSchemas } from '@idunn/ladder';

// Writes the published JSON Schemas of the ladder from the schemas that it reads with.
for (const [name, schema] of Object.entries(jsonSchemas())) {
  const file = join(import.meta.dirname, '../packages/ladder/schemas', name);
  writeFileSync(file, `${JSON.stringify(schema, null, 2)}\n`);
}
