import { gunzipSync } from 'node:zlib';
import { absent, canonicalJson, type Evidence, type Json, type JsonObject, seen, unknown } from '@idunn/kernel';
import { z } from 'zod';
import type { KubeApi } from './api.ts';
import { listAll } from './list.ts';

/** A release that is larger unpacked is no release of Helm's. */
const UNPACKED_LIMIT = 64 * 1_048_576;

const secretSchema = z.object({
  metadata: z.object({ name: z.string(), labels: z.record(z.string(), z.string()).default({}) }),
  type: z.string().default(''),
  data: z.record(z.string(), z.string()).default({}),
});

const releaseSchema = z.object({
  name: z.string(),
  version: z.int().positive(),
  chart: z.object({ metadata: z.object({ name: z.string(), version: z.string().default('') }) }),
  config: z.record(z.string(), z.json()).nullish(),
});

export interface StoredRelease {
  readonly release: string;
  readonly revision: number;
  readonly chartVersion: string;
  /** What the operator set, as `helm get values` tells it. May hold secrets. */
  readonly values: JsonObject;
}

/**
 * The values of the deployed release of one chart, as Helm itself keeps them in the namespace. Other charts' releases,
 * and revisions that are not deployed, are passed by. Two deployed releases of the chart are no answer.
 */
export async function storedReleaseValues(
  api: KubeApi,
  namespace: string,
  chart: string,
): Promise<Evidence<StoredRelease>> {
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets`;
  const listed = await listAll(api, path, secretSchema, { labelSelector: 'owner=helm,status=deployed' });
  if (!listed.ok) return unknown(listed.refusal.reason);
  const found: StoredRelease[] = [];
  for (const secret of listed.value.items.filter(({ type }) => type === 'helm.sh/release.v1')) {
    const release = unpack(secret.data['release'] ?? '');
    if (release === null) return unknown(`${secret.metadata.name} in ${namespace} is not a release that can be read`);
    if (release.chart.metadata.name !== chart) continue;
    found.push({
      release: release.name,
      revision: release.version,
      chartVersion: release.chart.metadata.version,
      values: release.config ?? {},
    });
  }
  const [only] = found;
  if (only === undefined) return absent;
  if (found.length === 1) return seen(only);
  return unknown(`${found.map(({ release }) => release).join(' and ')} in ${namespace} are both of chart ${chart}`);
}

/** A secret's value is base64; inside it Helm's own is base64 over gzip over JSON. */
function unpack(data: string): z.infer<typeof releaseSchema> | null {
  try {
    const packed = Buffer.from(Buffer.from(data, 'base64').toString('latin1'), 'base64');
    const read = releaseSchema.safeParse(
      JSON.parse(gunzipSync(packed, { maxOutputLength: UNPACKED_LIMIT }).toString('utf8')),
    );
    return read.success ? read.data : null;
  } catch {
    return null;
  }
}

/** Paths at which what is declared and what is stored differ, in order. Values are not told: they may be secret. */
export function valueDrift(declared: JsonObject, stored: JsonObject): readonly string[] {
  return drift(declared, stored, '').toSorted();
}

function drift(a: Json | undefined, b: Json | undefined, at: string): string[] {
  if (isObject(a) && isObject(b)) {
    return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((key) =>
      drift(a[key], b[key], at === '' ? key : `${at}.${key}`),
    );
  }
  const same = a === undefined || b === undefined ? a === b : canonicalJson(a) === canonicalJson(b);
  return same ? [] : [at];
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
