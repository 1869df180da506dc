import type { Binding } from '../binding/schema.ts';
import type { HealthContract, LaunchContract, LaunchValue, Probe } from '../model/plan.ts';
import type { Recipe } from '../recipe/schema.ts';
import { launchValue } from './launch.ts';

type AskedHealth = NonNullable<Recipe['health']>;

/** The health contract that a recipe asks for; every kind but `idunn` is the attendant's to carry out. */
export function compileHealth(asked: AskedHealth, launch: LaunchContract, binding: Binding): HealthContract {
  const { freshness_ms: freshnessMs } = asked;
  if (asked.kind === 'idunn') return { kind: 'idunn', path: asked.path ?? null, freshnessMs };
  return {
    kind: 'attended',
    path: asked.route_path ?? (asked.kind === 'http' ? asked.path : null),
    freshnessMs,
    probe: compileProbe(asked, launch, binding),
    intervalMs: asked.interval_ms,
    timeoutMs: asked.timeout_ms,
    successes: asked.successes,
    failures: asked.failures,
  };
}

function compileProbe(asked: Exclude<AskedHealth, { kind: 'idunn' }>, launch: LaunchContract, binding: Binding): Probe {
  switch (asked.kind) {
    case 'http':
      return { kind: 'http', method: asked.method, path: asked.path, statuses: asked.status, body: asked.body ?? null };
    case 'tcp':
      return { kind: 'tcp' };
    case 'command': {
      const [program, ...words] = asked.argv;
      if (program === undefined) throw new TypeError('an unchecked probe');
      return {
        kind: 'command',
        argv: [compileProgram(program, launch), ...words.map((word) => launchValue(word, binding))],
      };
    }
  }
}

/** A program of the artifacts, or the interpreter that the binding admitted for the service itself (I11). */
function compileProgram(word: string | { readonly slot: string }, { program }: LaunchContract): LaunchValue {
  if (typeof word !== 'string') return { slot: word.slot };
  if (word.includes('/')) {
    const { artifact } = program.kind === 'artifact' ? program : program.entry;
    return { slot: `artifact:${artifact}/${word}` };
  }
  if (program.kind !== 'interpreter') throw new TypeError('an unchecked probe');
  return program.origin === 'host' ? { literal: program.path } : { slot: `artifact:${program.artifact}` };
}
