import type { Binding } from '../binding/schema.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { LaunchContract, LaunchValue } from '../model/plan.ts';
import type { Recipe } from '../recipe/schema.ts';
import type { HostFacts } from './host-facts.ts';
import { compileIdentity } from './identity.ts';

/** The artifact that a sealed interpreter is installed as. */
export const INTERPRETER_ARTIFACT = 'interpreter';

/** A word of the recipe, as the plan keeps it: operator slots become the operator's literal text here and now. */
export function launchValue(word: string | { readonly slot: string }, binding: Binding): LaunchValue {
  if (typeof word === 'string') return { literal: word };
  const [kind, name = ''] = word.slot.split(':');
  return kind === 'operator' ? { literal: granted(binding.operator_slot, name) } : { slot: word.slot };
}

/** The launch contract of an admitted recipe. */
export function compileLaunch(fleet: Fleet, recipe: Recipe, binding: Binding, host: HostFacts): LaunchContract {
  const { service } = recipe;
  if (service === undefined) throw new TypeError('an unchecked recipe');
  const { from_port: fromPort = fleet.ports.from, to_port: toPort = fleet.ports.to } = binding.endpoint ?? {};
  const { limits } = binding;
  const identity = compileIdentity(binding, host);
  return {
    program: compileProgram(service, recipe, binding, host),
    args: service.args.map((word) => launchValue(word, binding)),
    environment: Object.fromEntries(
      service.required_environment.map((name) => [name, launchValue(granted(binding.environment, name), binding)]),
    ),
    secrets: service.secrets.map((name) => ({ name, file: granted(binding.secret, name).file })),
    endpoint:
      service.protocol === undefined ? null : { protocol: service.protocol, host: '127.0.0.1', fromPort, toPort },
    limits: {
      memoryBytes: limits.memory_bytes ?? null,
      processes: limits.processes ?? null,
      openFiles: limits.open_files ?? null,
      logBytes: limits.log_bytes,
      logFiles: limits.log_files,
    },
    ...(identity === null ? {} : { identity }),
    singleProcess: binding.workload.single_process,
  };
}

function compileProgram(
  service: NonNullable<Recipe['service']>,
  { external_input: inputs }: Recipe,
  binding: Binding,
  host: HostFacts,
): LaunchContract['program'] {
  const { artifact, path = '', interpreter } = service;
  if (interpreter === undefined) return { kind: 'artifact', artifact, path };
  const admitted = granted(binding.interpreter, interpreter);
  const entry = { artifact, path };
  if (admitted.origin === 'input') {
    const input = inputs.find(({ id }) => id === admitted.input);
    if (input === undefined) throw new TypeError('an unchecked interpreter');
    return { kind: 'interpreter', origin: 'input', artifact: INTERPRETER_ARTIFACT, digest: input.sha256, entry };
  }
  const digest = admitted.path === undefined ? undefined : host.interpreters[admitted.path];
  if (admitted.path === undefined || digest?.kind !== 'seen') throw new TypeError('an unchecked interpreter');
  return { kind: 'interpreter', origin: 'host', path: admitted.path, digest: digest.value, entry };
}

/** A grant that admission has already found; its absence is a fault of ours. */
function granted<T>(table: Readonly<Record<string, T>>, name: string): T {
  const value = Object.hasOwn(table, name) ? table[name] : undefined;
  if (value === undefined) throw new TypeError(`an unchecked grant: ${name}`);
  return value;
}
