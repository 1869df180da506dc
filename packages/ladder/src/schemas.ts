import { z } from 'zod';
import { bundleManifestSchema } from './bundle/manifest.ts';
import { ladderFileSchema } from './ladder/shape.ts';
import { topologySchema } from './topology/topology.ts';

/** The published JSON Schemas by file name, as they are written by people and programs. */
export function jsonSchemas(): Readonly<Record<string, object>> {
  const schemas = { ladder: ladderFileSchema, topology: topologySchema, bundle: bundleManifestSchema };
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [`${name}-v1.json`, z.toJSONSchema(schema, { io: 'input' })]),
  );
}
