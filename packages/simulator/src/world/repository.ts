import { digestBytes, type Outcome, seen } from '@idunn/kernel';
import { compilePlan, type Fleet, type HostFacts, type Plan, parseBinding, parseRecipe } from '@idunn/release';
import type { Behaviour, GREEDY } from './behaviour.ts';
import { behaviourOf, commitOf, digestOf } from './sources.ts';

/** What a repository asks for that nobody bound: a piece of its recipe, and what stands there instead. */
const ASKS: Readonly<Record<(typeof GREEDY)[number], readonly [string, string]>> = {
  'asks-for-a-secret': ['[service]\n', '[service]\nsecrets = ["host-key"]\n'],
  'asks-for-a-variable': ['[service]\n', '[service]\nrequired_environment = ["LD_PRELOAD"]\n'],
  'asks-for-a-slot': ['[service]\n', '[service]\nargs = [{ slot = "operator:host" }]\n'],
  'asks-for-a-program': ['programs = ["node"]', 'programs = ["node", "curl"]'],
  'asks-for-a-path': ['path = "0.db"', 'path = "../other/0.db"'],
  'asks-for-a-capability': ['[health]\n', '[[capability]]\nname = "host.root"\nschema = "host.root/1"\n\n[health]\n'],
};

const isGreedy = (behaviour: Behaviour): behaviour is keyof typeof ASKS => Object.hasOwn(ASKS, behaviour);

const recipe = (target: string): string => `schema = "idunn.recipe/v1"
target = "${target}"

[runner.build]
programs = ["node"]

[[step]]
id = "compile"
profile = "build"
argv = ["node", "build.js"]

[[artifact]]
id = "app"
path = "app"
kind = "directory"

[service]
artifact = "app"
path = "main"
protocol = "http"
routed = true

[health]
kind = "idunn"
path = "/version"
freshness_ms = 600_000

[state]
schema = "events-v1"

[[state.store]]
id = "store-0"
kind = "sqlite"
path = "0.db"
`;

const binding = (target: string): string => `schema = "idunn.binding/v1"
target = "${target}"
node = "local"

[source]
origin = "https://git.example.org/${target}.git"
ref = "refs/heads/main"
minimum_revision = "${commitOf(target, 'first')}"
selection = "ref-head"
recipe = "deployment/idunn/recipe.toml"

[runner.build]
kind = "host-native"
allowed_programs = { node = "/usr/bin/node" }

[state]
root = "/state/${target}"

[endpoint]
from_port = 20_000
to_port = 29_999

[route]
listen = { host = "127.0.0.1", port = 8_000 }
`;

/**
 * What the real compiler makes of a repository that asks for more than its binding grants; `null` for any other ref.
 * Everything that the machine is asked for is there, so that nothing but the request can be refused.
 */
export function askedFor(target: string, ref: string): Outcome<Plan> | null {
  const behaviour = behaviourOf(ref);
  if (!isGreedy(behaviour)) return null;
  const [from, to] = ASKS[behaviour];
  return compiledFrom(target, ref, recipe(target).replace(from, to));
}

/** The same repository without the request: it is planned. */
export const admittedOf = (target: string, ref: string): Outcome<Plan> => compiledFrom(target, ref, recipe(target));

function compiledFrom(target: string, ref: string, text: string): Outcome<Plan> {
  const bound = parseBinding(binding(target), 'binding.toml');
  if (!bound.ok) return bound;
  const asked = parseRecipe(text, 'recipe.toml');
  if (!asked.ok) return asked;
  const fleet: Fleet = {
    id: 'simulated',
    root: '/fleet',
    directories: { state: '/var/a', runtime: '/var/b', releases: '/var/c', logs: '/var/d', cache: '/var/e' },
    ports: { from: 20_000, to: 29_999 },
    daemon: { queueDepth: 8 },
    notify: [],
    source: { reader: null, originOwners: [] },
    profiles: {},
    bindings: new Map([[target, bound.value]]),
  };
  const facts: Plan['source'] = {
    origin: `https://git.example.org/${target}.git`,
    ref: 'refs/heads/main',
    selection: 'ref-head',
    objectFormat: 'sha1',
    commit: commitOf(target, ref),
    tree: commitOf(target, `tree ${ref}`),
    recipePath: 'deployment/idunn/recipe.toml',
    recipeBlob: commitOf(target, `recipe ${ref}`),
    recipeDigest: asked.value.digest,
    gitlinks: [],
    lfsPointers: 'refuse',
    authorization: null,
    minimumRevision: commitOf(target, 'first'),
  };
  const paths = [`/state/${target}`, '/fleet', ...Object.values(fleet.directories)];
  const hostFacts: HostFacts = {
    interpreters: {},
    programs: { '/usr/bin/node': seen('executable') },
    secrets: {},
    directories: Object.fromEntries(paths.map((path) => [path, seen([path, '/'])])),
    mounts: {},
    users: {},
    signer: seen({ keyId: `ed25519:${digestOf(target).slice(7, 39)}`, publicKey: publicKeyOf(target) }),
  };
  return compilePlan({ fleet, machine: 'local', binding: bound.value, recipe: asked.value, facts, hostFacts });
}

const publicKeyOf = (target: string): string => Buffer.from(digestBytes(target).slice(7, 39)).toString('base64');
