import { type Outcome, ok, type Refusal, refusal, refused } from '@idunn/kernel';
import { type Asked, ask } from './answer.ts';
import type { KubeApi, PatchType } from './api.ts';

/**
 * Who changes fields, as the cluster records it. An apply takes back what its manager set before and sets no more, so
 * that whoever sets a part of an object does it under a name of its own.
 */
export const MANAGERS = {
  manifests: 'idunn-ladder-manifests',
  release: 'idunn-ladder-release',
  route: 'idunn-ladder-route',
  scale: 'idunn-ladder-scale',
} as const;
type Manager = (typeof MANAGERS)[keyof typeof MANAGERS];

const isOurs = (manager: string): boolean => Object.values<string>(MANAGERS).includes(manager);
/** How often a change is made again over an object that changed meanwhile. */
const ATTEMPTS = 5;

/** `refuse`: a field that another manager owns is left alone. `take`: it becomes ours. */
export type FieldConflicts = 'refuse' | 'take';

/** A server-side apply of exactly these fields. A repeat after a lost answer is harmless. */
export async function applyFields(
  api: KubeApi,
  path: string,
  fields: object,
  options: { readonly manager: Manager; readonly conflicts: FieldConflicts; readonly dryRun?: boolean },
): Promise<Asked> {
  const apply = (force: boolean): Promise<Asked> =>
    ask(api, {
      method: 'PATCH',
      path,
      query: {
        fieldManager: options.manager,
        fieldValidation: 'Strict',
        ...(force ? { force: 'true' } : {}),
        ...(options.dryRun === true ? { dryRun: 'All' } : {}),
      },
      body: { type: 'application/apply-patch+yaml', value: fields },
    });
  const asked = await apply(options.conflicts === 'take');
  // What another part of ours set last gives way: the later word is the one that was cleared.
  const ours =
    asked.kind === 'conflict' && asked.owned.length > 0 && asked.owned.every(({ manager }) => isOurs(manager));
  return ours ? apply(true) : asked;
}

/**
 * Reads, decides and patches, again over a newer object as often as somebody else was faster. `change` answers the
 * merge patch for what was read, `null` when nothing is left to do; it carries the version that was read, so that
 * nobody's change is overwritten unseen.
 */
export async function patchOver<T extends { readonly metadata: { readonly resourceVersion: string } }>(
  api: KubeApi,
  path: string,
  read: () => Promise<Outcome<T>>,
  change: (object: T) => Outcome<object | null>,
): Promise<Outcome<void>> {
  let last: Refusal = refusal('cluster-conflict', `${path} was not changed.`);
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const object = await read();
    if (!object.ok) return object;
    const patch = change(object.value);
    if (!patch.ok) return patch;
    if (patch.value === null) return ok(undefined);
    const type: PatchType = 'application/merge-patch+json';
    const value = withVersion(patch.value, object.value.metadata.resourceVersion);
    const asked = await ask(api, {
      method: 'PATCH',
      path,
      query: { fieldManager: MANAGERS.scale },
      body: { type, value },
    });
    if (asked.kind === 'object') return ok(undefined);
    if (asked.kind !== 'conflict') return accepted(asked, path);
    last = asked.refusal;
  }
  return refused(last);
}

function withVersion(patch: object, resourceVersion: string): object {
  const metadata = 'metadata' in patch ? (patch.metadata as object) : {};
  return { ...patch, metadata: { ...metadata, resourceVersion } };
}

/** A change that was asked for, as an outcome. */
export function accepted(asked: Asked, what: string): Outcome<void> {
  switch (asked.kind) {
    case 'object':
      return ok(undefined);
    case 'absent':
      return refused(refusal('cluster-object-absent', `There is no ${what}.`));
    case 'expired':
      return refused(refusal('cluster-conflict', `${what} changed while it was changed.`));
    case 'conflict': {
      const { refusal: why, owned } = asked;
      return refused(owned.length === 0 ? why : { ...why, detail: { owned: owned.map((one) => ({ ...one })) } });
    }
    case 'refused':
      return refused(asked.refusal);
  }
}
