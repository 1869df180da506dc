import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import { LineCounter, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { ask, objectOf } from './answer.ts';
import type { KubeApi } from './api.ts';
import { accepted, applyFields, type FieldConflicts, MANAGERS } from './change.ts';

/** Objects that one apply takes. */
const OBJECT_LIMIT = 1_000;

/** Both become parts of a path, so that nothing in them may lead it elsewhere. */
const apiVersion = z.string().regex(/^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?\/)?[a-z][a-z0-9]*$/);
const objectName = z.string().regex(/^(?!\.{1,2}$)[^/%]{1,253}$/);

const manifestSchema = z.looseObject({
  apiVersion,
  kind: z.string().min(1),
  metadata: z.looseObject({ name: objectName, namespace: z.string().optional() }),
});
type Manifest = z.infer<typeof manifestSchema>;

const resourcesSchema = z.object({
  resources: z.array(z.object({ name: z.string(), kind: z.string(), namespaced: z.boolean() })),
});

interface Placed {
  readonly manifest: Manifest;
  readonly path: string;
}

/**
 * Applies rendered manifests by server-side apply, in their order. Everything is read, placed and tried by the server
 * itself without effect first, so that what it would refuse is refused before anything is changed.
 */
export async function applyManifests(
  api: KubeApi,
  namespace: string,
  documents: readonly string[],
  conflicts: FieldConflicts,
): Promise<Outcome<void>> {
  const placed = await place(api, namespace, documents);
  if (!placed.ok) return placed;
  for (const dryRun of [true, false]) {
    for (const { manifest, path } of placed.value) {
      const asked = await applyFields(api, path, manifest, { manager: MANAGERS.manifests, conflicts, dryRun });
      const outcome = accepted(asked, nameOf(manifest));
      if (!outcome.ok) return outcome;
    }
  }
  return ok(undefined);
}

async function place(
  api: KubeApi,
  namespace: string,
  documents: readonly string[],
): Promise<Outcome<readonly Placed[]>> {
  const manifests = readManifests(documents);
  if (!manifests.ok) return manifests;
  const known = new Map<string, z.infer<typeof resourcesSchema>>();
  const placed: Placed[] = [];
  for (const manifest of manifests.value) {
    const { apiVersion, kind, metadata } = manifest;
    const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    let found = known.get(root);
    if (found === undefined) {
      const asked = await ask(api, { method: 'GET', path: root });
      const read = objectOf(asked, resourcesSchema, `API ${apiVersion}`);
      if (!read.ok) return read;
      found = read.value;
      known.set(root, found);
    }
    const resource = found.resources.find((one) => one.kind === kind && !one.name.includes('/'));
    if (resource === undefined) return unusable(`The cluster knows no ${kind} in ${apiVersion}`);
    const outside = whyOutside(namespace, manifest, resource.namespaced);
    if (outside !== null) return unusable(outside);
    const base = resource.namespaced ? `${root}/namespaces/${encodeURIComponent(namespace)}` : root;
    placed.push({
      manifest: resource.namespaced ? { ...manifest, metadata: { ...metadata, namespace } } : manifest,
      path: `${base}/${resource.name}/${encodeURIComponent(metadata.name)}`,
    });
  }
  return ok(placed);
}

/** A clearance is for one namespace: what lies in another, or in none, is not covered by it. */
function whyOutside(namespace: string, manifest: Manifest, namespaced: boolean): string | null {
  const { kind, metadata } = manifest;
  if (!namespaced) {
    const own = kind === 'Namespace' && metadata.name === namespace;
    return own ? null : `${nameOf(manifest)} belongs to the whole cluster`;
  }
  if (metadata.namespace === undefined || metadata.namespace === namespace) return null;
  return `${nameOf(manifest)} is for ${metadata.namespace}`;
}

function readManifests(documents: readonly string[]): Outcome<readonly Manifest[]> {
  const manifests: Manifest[] = [];
  for (const [index, text] of documents.entries()) {
    const lines = new LineCounter();
    for (const document of parseAllDocuments(text, { uniqueKeys: true, prettyErrors: false, lineCounter: lines })) {
      const [fault] = document.errors;
      if (fault !== undefined) {
        // F30: the parser's own words quote the text, which may be that of a Secret.
        const { line, col } = lines.linePos(fault.pos[0]);
        return unusable(`Document ${index + 1} is no YAML at line ${line}, column ${col}: ${fault.code}`);
      }
      const value: unknown = document.toJS({ maxAliasCount: 100 });
      if (value === null) continue;
      const read = manifestSchema.safeParse(value);
      if (!read.success) {
        const fields = read.error.issues.map(({ path }) => path.join('.') || 'the document').join(', ');
        return unusable(`Document ${index + 1} lacks a usable ${fields}`);
      }
      manifests.push(read.data);
    }
  }
  if (manifests.length === 0) return unusable('The manifests hold no object');
  return manifests.length > OBJECT_LIMIT ? unusable(`More than ${OBJECT_LIMIT} objects`) : ok(manifests);
}

const nameOf = ({ kind, metadata }: Manifest): string => `${kind} ${metadata.name}`;

const unusable = (reason: string) => refused(refusal('manifest-unusable', `${reason}.`));
