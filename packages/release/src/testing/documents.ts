import { readFileSync } from 'node:fs';
import { digestBytes, type Outcome, seen } from '@idunn/kernel';
import { type BindingDocument, parseBinding } from '../binding/parse.ts';
import { type Fault, faultsOf } from '../configuration/fault.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { Plan } from '../model/plan.ts';
import type { SourceFacts } from '../model/source-facts.ts';
import { compilePlan } from '../plan/compile.ts';
import type { HostFacts } from '../plan/host-facts.ts';
import { parseRecipe, type RecipeDocument } from '../recipe/parse.ts';

/** The TOML blocks of a docs page, in order. */
export function docsExample(page: string): string {
  const text = readFileSync(new URL(`../../../../docs/${page}.md`, import.meta.url), 'utf8');
  const block = /```toml\n([\s\S]*?)```/.exec(text)?.[1];
  if (block === undefined) throw new Error(`docs/${page}.md has no example`);
  return block;
}

export function valueOf<T>(outcome: Outcome<T>): T {
  if (!outcome.ok) throw new Error(`refused: ${JSON.stringify(outcome.refusal, null, 2)}`);
  return outcome.value;
}

export function refusalOf(outcome: Outcome<unknown>) {
  if (outcome.ok) throw new Error(`not refused: ${JSON.stringify(outcome.value)}`);
  return outcome.refusal;
}

/** Each fault as `line:column code message`. */
export const faultLines = (outcome: Outcome<unknown>): string[] => faultsOf(refusalOf(outcome)).map(faultLine);
export const faultLine = ({ line, column, code, message }: Fault): string => `${line}:${column} ${code} ${message}`;

export const recipe = (text = docsExample('recipe')): RecipeDocument => valueOf(parseRecipe(text, 'recipe.toml'));
export const binding = (text = docsExample('binding')): BindingDocument => valueOf(parseBinding(text, 'binding.toml'));

export function fleetOf(...bindings: readonly BindingDocument[]): Fleet {
  return {
    id: 'home',
    root: '/fleet',
    directories: { state: '/var/a', runtime: '/var/b', releases: '/var/c', logs: '/var/d', cache: '/var/e' },
    ports: { from: 20_000, to: 20_999 },
    daemon: { queueDepth: 8 },
    notify: [],
    source: { reader: null, originOwners: [] },
    profiles: {},
    bindings: new Map(bindings.map((document) => [document.binding.target, document])),
  };
}

export function factsFor({ digest }: RecipeDocument): SourceFacts {
  return {
    origin: 'https://git.example.org/games/ghostlight.git',
    ref: 'refs/heads/main',
    selection: 'ref-head',
    objectFormat: 'sha1',
    commit: '1'.repeat(40),
    tree: '2'.repeat(40),
    recipePath: 'deployment/idunn/recipe.toml',
    recipeBlob: '3'.repeat(40),
    recipeDigest: digest,
    gitlinks: [],
    lfsPointers: 'refuse',
    authorization: null,
    minimumRevision: '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
  };
}

/** A machine on which everything is as the example binding says; each directory stands alone. */
export function hostFacts(more: Partial<HostFacts> = {}): HostFacts {
  const lineage = (path: string) => seen([path, '/']);
  return {
    interpreters: { '/usr/bin/node': seen(digestBytes('node')) },
    programs: { '/usr/bin/node': seen('executable') },
    secrets: { '/etc/idunn/secrets/ghostlight-api-key': seen('private') },
    directories: Object.fromEntries(
      ['/srv/ghostlight', '/srv/almanac', '/fleet', '/var/a', '/var/b', '/var/c', '/var/d', '/var/e'].map((path) => [
        path,
        lineage(path),
      ]),
    ),
    mounts: {},
    users: { steward: seen(1_234) },
    signer: seen({ keyId: 'ed25519:00', publicKey: Buffer.alloc(32).toString('base64') }),
    ...more,
  };
}

/** Replaces one piece of the text, which must be there. */
export function change(text: string, from: string, to: string): string {
  if (!text.includes(from)) throw new Error(`the example has no ${from}`);
  return text.replace(from, to);
}

/** The plan of the documented recipe under the documented binding. */
export function examplePlan(): Plan {
  const [asked, bound] = [recipe(), binding()];
  const facts = factsFor(asked);
  return valueOf(
    compilePlan({
      fleet: fleetOf(bound),
      machine: 'local',
      binding: bound,
      recipe: asked,
      facts,
      hostFacts: hostFacts(),
    }),
  );
}
