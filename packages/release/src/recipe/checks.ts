import { type Document, faultAt } from '../configuration/document.ts';
import type { Fault } from '../configuration/fault.ts';
import { type Path } from '../configuration/path.ts';
import type { Sections } from '../configuration/sections.ts';
import { checkAttended } from './check-attended.ts';
import type { RecipeShape } from './schema.ts';

/** What must hold between fields. A field that is itself faulty is left out, so nothing is said twice. */
export function checkRecipe(document: Document, recipe: Sections<RecipeShape>): readonly Fault[] {
  return [
    ...duplicates(document, ['external_input'], recipe.external_input),
    ...duplicates(document, ['artifact'], recipe.artifact),
    ...duplicates(document, ['step'], recipe.step),
    ...duplicates(document, ['state', 'store'], recipe.state?.store),
    ...duplicates(document, ['state', 'store'], recipe.state?.store, 'path'),
    ...duplicates(document, ['capability'], recipe.capability, 'name'),
    ...checkProduct(document, recipe),
    ...checkRunners(document, recipe),
    ...checkSteps(document, recipe),
    ...checkService(document, recipe),
    ...checkSlots(document, recipe),
    ...checkAttended(document, recipe),
  ];
}

/** Every entry of a list after the first with the same value is a fault that shows both lines. */
export function duplicates<Key extends string = 'id'>(
  document: Document,
  list: Path,
  entries: readonly { readonly [K in NoInfer<Key>]: string }[] | undefined,
  key: Key = 'id' as Key,
): readonly Fault[] {
  const first = new Map<string, number>();
  return (entries ?? []).flatMap((entry, index) => {
    const earlier = first.get(entry[key]);
    if (earlier === undefined) {
      first.set(entry[key], index);
      return [];
    }
    const message = `${key} "${entry[key]}" is used twice`;
    return [
      faultAt(document, [...list, index, key], 'duplicate-name', message, document.place([...list, earlier, key])),
    ];
  });
}

function checkProduct(document: Document, recipe: Sections<RecipeShape>): Fault[] {
  const asked = (field: string): boolean => Object.hasOwn(document.value, field);
  if (asked('static_release')) {
    return asked('service')
      ? [faultAt(document, ['static_release'], 'invalid-value', 'a recipe has [service] or [static_release], not both')]
      : [];
  }
  const faults: Fault[] = [];
  if (!asked('service')) faults.push(faultAt(document, ['service'], 'missing-field', '[service] is missing'));
  // F23: a check that is switched off must never mean healthy.
  if (!asked('health')) faults.push(faultAt(document, ['health'], 'no-health-contract', '[health] is missing'));
  const { health, service } = recipe;
  const requests = service?.routed === true && service.protocol !== 'tcp';
  if (health?.kind === 'idunn' && requests && health.path === undefined) {
    const message = 'health.path is missing: a routed service needs a path by which its route is seen to serve';
    faults.push(faultAt(document, ['health'], 'missing-field', message, document.place(['service', 'routed'])));
  }
  return faults;
}

/** What a step fetches must be pinned by the source itself. */
function checkRunners(document: Document, { runner = {} }: Sections<RecipeShape>): Fault[] {
  return Object.entries(runner).flatMap(([name, { network, lockfile }]) => {
    if (network === undefined || lockfile !== undefined) return [];
    const path = ['runner', name, 'lockfile'];
    const message = `runner.${name}.lockfile is missing: with a network, the file that pins what is fetched`;
    return [faultAt(document, path, 'missing-field', message, document.place(['runner', name, 'network']))];
  });
}

function checkSteps(document: Document, { step, runner }: Sections<RecipeShape>): Fault[] {
  if (step === undefined || runner === undefined) return [];
  return step.flatMap((entry, index) => {
    const profile = Object.hasOwn(runner, entry.profile) ? runner[entry.profile] : undefined;
    if (profile === undefined) {
      const message = `step "${entry.id}" names the profile "${entry.profile}", which the recipe does not request`;
      return [faultAt(document, ['step', index, 'profile'], 'undefined-reference', message)];
    }
    const name = entry.argv[0] ?? '';
    if (profile.programs.includes(name)) return [];
    const message = `step "${entry.id}" starts "${name}", which runner.${entry.profile}.programs does not request`;
    const related = document.place(['runner', entry.profile, 'programs']);
    return [faultAt(document, ['step', index, 'argv', 0], 'undefined-reference', message, related)];
  });
}

function checkService(document: Document, { service, static_release, artifact }: Sections<RecipeShape>): Fault[] {
  if (artifact === undefined) return [];
  const faults: Fault[] = [];
  const reference = (path: Path, name: string): void => {
    if (artifact.some((entry) => entry.id === name)) return;
    faults.push(faultAt(document, path, 'undefined-reference', `no [[artifact]] has the id "${name}"`));
  };
  if (static_release !== undefined) reference(['static_release', 'artifact'], static_release.artifact);
  if (service === undefined) return faults;
  reference(['service', 'artifact'], service.artifact);
  const kind = artifact.find((entry) => entry.id === service.artifact)?.kind;
  if (kind === 'directory' && service.path === undefined) {
    faults.push(
      faultAt(document, ['service', 'path'], 'missing-field', 'service.path is missing: the artifact is a directory'),
    );
  }
  if (kind === 'file' && service.path !== undefined) {
    faults.push(
      faultAt(
        document,
        ['service', 'path'],
        'invalid-value',
        'service.path: the artifact is one file and has no paths',
      ),
    );
  }
  if (service.routed && service.protocol === undefined) {
    faults.push(
      faultAt(document, ['service', 'routed'], 'missing-field', 'service.protocol is missing: a route needs one'),
    );
  }
  return faults;
}

function checkSlots(document: Document, { service, state, artifact, health }: Sections<RecipeShape>): readonly Fault[] {
  const declared = {
    state: Object.hasOwn(document.value, 'state') ? (state?.store.map((store) => store.id) ?? 'unreadable') : [],
    artifacts: artifact?.map((entry) => entry.id) ?? 'unreadable',
    endpoint: service?.protocol !== undefined,
  } as const;
  const filled = (words: readonly (string | { readonly slot: string })[], at: Path): readonly Fault[] =>
    words.flatMap((word, index) => {
      if (typeof word === 'string') return [];
      const missing = slotNeeds(word.slot, declared);
      const message = `slot "${word.slot}" needs ${missing}`;
      return missing === null ? [] : [faultAt(document, [...at, index, 'slot'], 'undefined-reference', message)];
    });
  return [
    ...filled(service?.args ?? [], ['service', 'args']),
    ...filled(health?.kind === 'command' ? health.argv : [], ['health', 'argv']),
  ];
}

/** What a slot needs and does not find, in words; `null` when it can be filled. */
export function slotNeeds(
  slot: string,
  declared: {
    readonly state: readonly string[] | 'unreadable';
    readonly artifacts: readonly string[] | 'unreadable';
    readonly endpoint: boolean;
  },
): string | null {
  const [kind = '', name = ''] = slot.split(':');
  const lacks = (names: readonly string[] | 'unreadable'): boolean => names !== 'unreadable' && !names.includes(name);
  switch (kind) {
    case 'state-root':
      return declared.state.length === 0 ? 'a [state] table in the recipe' : null;
    case 'state-path':
      return lacks(declared.state) ? `a [[state.store]] with the id "${name}"` : null;
    case 'artifact':
      return lacks(declared.artifacts) ? `an [[artifact]] with the id "${name}"` : null;
    case 'endpoint-host':
    case 'endpoint-port':
      return declared.endpoint ? null : 'service.protocol, which asks for an endpoint';
    default:
      return null;
  }
}
