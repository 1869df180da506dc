import type { Binding } from '../binding/schema.ts';
import type { NetworkProfile, RunnerGrant } from '../model/plan.ts';
import type { Recipe } from '../recipe/schema.ts';

type AskedRunner = Recipe['runner'][string];

/** What stands behind each runner profile that an admitted recipe asks for. */
export const compileRunners = (recipe: Recipe, binding: Binding): Record<string, RunnerGrant> =>
  Object.fromEntries(Object.entries(recipe.runner).map(([name, asked]) => [name, compileRunner(name, asked, binding)]));

function compileRunner(name: string, asked: AskedRunner, { runner, network }: Binding): RunnerGrant {
  const grant = Object.hasOwn(runner, name) ? runner[name] : undefined;
  if (grant === undefined) throw new TypeError(`an unchecked runner: ${name}`);
  const of = (table: Readonly<Record<string, string>>, names: readonly string[]) =>
    Object.fromEntries(Object.entries(table).filter(([key]) => names.includes(key)));
  const common = {
    allowedPrograms: of(grant.allowed_programs, asked.programs),
    // A step gets the variables that its profile asks for; `PATH` is the operator's alone to give.
    environment: of(grant.environment, [...asked.environment, 'PATH']),
    lockfile: asked.lockfile ?? null,
  };
  if (grant.kind === 'host-native') return { kind: 'host-native', ...common };
  return {
    kind: 'bubblewrap',
    ...common,
    mounts: grant.mount.map(({ source, destination = source }) => ({ source, destination })),
    limits: {
      memoryBytes: grant.memory_bytes ?? null,
      processes: grant.processes ?? null,
      cpuMillis: grant.cpu_millis ?? null,
    },
    network: asked.network === undefined ? null : compileNetwork(asked.network, network),
  };
}

function compileNetwork(name: string, networks: Binding['network']): NetworkProfile {
  const profile = Object.hasOwn(networks, name) ? networks[name] : undefined;
  if (profile === undefined) throw new TypeError(`an unchecked network: ${name}`);
  const hosts = profile.hosts.map((place) => {
    const colon = place.lastIndexOf(':');
    return { host: place.slice(0, colon), port: Number(place.slice(colon + 1)) };
  });
  return { name, hosts, connections: profile.connections, maxBytes: profile.max_bytes };
}
