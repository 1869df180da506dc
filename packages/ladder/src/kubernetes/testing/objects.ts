import { type Fields, isFields, leavesOf, merged, mergePatched } from './fields.ts';
import { type Answer, answer, status } from './status.ts';

/** An object of the fake cluster, with the fields that everything here reads. */
export interface Kept extends Fields {
  apiVersion: string;
  kind: string;
  metadata: Fields & {
    name: string;
    namespace?: string;
    uid: string;
    resourceVersion: string;
    generation: number;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
}

export interface Event {
  readonly version: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly path: string;
  readonly object: Kept;
}

export interface Applying {
  readonly manager: string;
  readonly force: boolean;
  readonly dryRun: boolean;
}

/** Objects by path, with versions, generations, field owners and a history, as the API server keeps them. */
export class Objects {
  readonly objects = new Map<string, Kept>();
  readonly history: Event[] = [];
  version = 1;
  /** Told of each change that was kept. */
  changed: (event: Event) => void = () => {};
  readonly #owners = new Map<string, Map<string, Set<string>>>();

  /** Puts an object there as `manager` would have. */
  put(path: string, object: Fields, manager = 'somebody'): Kept {
    const owners = new Map([...leavesOf(object).keys()].map((leaf) => [leaf, new Set([manager])]));
    this.#owners.set(path, owners);
    return this.#keep(path, object);
  }

  /** As a controller does: the status changes, the generation stays. */
  setStatus(path: string, statusOf: (object: Kept) => Fields): void {
    const object = this.objects.get(path);
    if (object !== undefined) this.#keep(path, { ...object, status: statusOf(object) });
  }

  /** Server-side apply: conflicts with other managers' fields, and takes away what this manager no longer sets. */
  apply(path: string, fields: Fields, { manager, force, dryRun }: Applying): Answer {
    const before = this.objects.get(path);
    const broken = this.#precondition(before, fields);
    if (broken !== null) return broken;
    const wanted = leavesOf(fields);
    const has = before === undefined ? new Map<string, unknown>() : leavesOf(before);
    const owners = this.#owners.get(path) ?? new Map<string, Set<string>>();
    const conflicts = [...wanted].filter(([leaf, value]) => {
      const others = [...(owners.get(leaf) ?? [])].filter((owner) => owner !== manager);
      return others.length > 0 && JSON.stringify(has.get(leaf)) !== JSON.stringify(value);
    });
    if (conflicts.length > 0 && !force) {
      const causes = conflicts.map(([leaf]) => ({
        reason: 'FieldManagerConflict',
        message: `conflict with "${[...(owners.get(leaf) ?? [])].join(', ')}"`,
        field: `.${leaf}`,
      }));
      return status(409, 'Conflict', `Apply failed with ${causes.length} conflict`, causes);
    }
    const dropped = [...owners].filter(([leaf, set]) => set.has(manager) && set.size === 1 && !wanted.has(leaf));
    const next = merged(
      without(
        before ?? {},
        dropped.map(([leaf]) => leaf),
      ),
      fields,
    ) as Fields;
    if (dryRun) return answer(before === undefined ? 201 : 200, this.#completed(path, next));
    for (const [leaf] of dropped) owners.delete(leaf);
    for (const [leaf] of conflicts) owners.set(leaf, new Set());
    for (const leaf of wanted.keys()) owners.set(leaf, (owners.get(leaf) ?? new Set()).add(manager));
    this.#owners.set(path, owners);
    return answer(before === undefined ? 201 : 200, this.#keep(path, next));
  }

  mergePatch(path: string, patch: Fields, manager: string): Answer {
    const before = this.objects.get(path);
    if (before === undefined) return status(404, 'NotFound', `${path} is not found`);
    const broken = this.#precondition(before, patch);
    if (broken !== null) return broken;
    const owners = this.#owners.get(path) ?? new Map<string, Set<string>>();
    for (const leaf of leavesOf(patch).keys()) owners.set(leaf, new Set([manager]));
    this.#owners.set(path, owners);
    return answer(200, this.#keep(path, mergePatched(before, patch) as Fields));
  }

  remove(path: string, preconditions: { readonly uid?: unknown; readonly resourceVersion?: unknown } = {}): Answer {
    const object = this.objects.get(path);
    if (object === undefined) return status(404, 'NotFound', `${path} is not found`);
    const broken = this.#precondition(object, { metadata: { ...preconditions } });
    if (broken !== null) return broken;
    this.objects.delete(path);
    this.#owners.delete(path);
    this.#tell('DELETED', path, object);
    return { status: 200, body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' } };
  }

  #precondition(object: Kept | undefined, change: Fields): Answer | null {
    const said = isFields(change['metadata']) ? change['metadata'] : {};
    for (const name of ['uid', 'resourceVersion'] as const) {
      if (said[name] === undefined || said[name] === object?.metadata[name]) continue;
      return status(409, 'Conflict', 'the object has been modified; please apply your changes to the latest version');
    }
    return null;
  }

  #keep(path: string, fields: Fields): Kept {
    const before = this.objects.get(path);
    const object = this.#completed(path, fields);
    this.version += 1;
    object.metadata.resourceVersion = String(this.version);
    this.objects.set(path, object);
    this.#tell(before === undefined ? 'ADDED' : 'MODIFIED', path, object);
    return object;
  }

  #completed(path: string, fields: Fields): Kept {
    const before = this.objects.get(path);
    const metadata = isFields(fields['metadata']) ? fields['metadata'] : {};
    const again = before !== undefined && JSON.stringify(before['spec']) === JSON.stringify(fields['spec']);
    return {
      ...structuredClone(fields),
      metadata: {
        ...structuredClone(metadata),
        uid: before?.metadata.uid ?? `uid-${this.version}`,
        resourceVersion: before?.metadata.resourceVersion ?? '0',
        generation: (before?.metadata.generation ?? 0) + (again ? 0 : 1),
      },
    } as Kept;
  }

  #tell(type: Event['type'], path: string, object: Kept): void {
    if (type === 'DELETED') this.version += 1;
    const event = { version: this.version, type, path, object: structuredClone(object) };
    this.history.push(event);
    this.changed(event);
  }
}

/** The object without these leaves. Only what is not in a keyed list is ever dropped here. */
function without(object: Fields, leaves: readonly string[]): Fields {
  const result = structuredClone(object);
  for (const leaf of leaves) {
    const names = leaf.split('.');
    const last = names.pop() ?? '';
    const parent = names.reduce<unknown>((at, name) => (isFields(at) ? at[name] : undefined), result);
    if (isFields(parent)) delete parent[last];
  }
  return result;
}
