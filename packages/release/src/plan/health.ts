import type { HealthContract, LaunchValue, Probe } from '../model/plan.ts';
import type { Recipe } from '../recipe/schema.ts';

type AskedHealth = NonNullable<Recipe['health']>;

/** The health contract that a recipe asks for; every kind but `idunn` is the attendant's to carry out. */
export function compileHealth(asked: AskedHealth): HealthContract {
  const { freshness_ms: freshnessMs } = asked;
  if (asked.kind === 'idunn') return { kind: 'idunn', path: asked.path ?? null, freshnessMs };
  return {
    kind: 'attended',
    path: asked.kind === 'http' ? asked.path : null,
    freshnessMs,
    probe: compileProbe(asked),
    intervalMs: asked.interval_ms,
    timeoutMs: asked.timeout_ms,
    successes: asked.successes,
    failures: asked.failures,
  };
}

function compileProbe(asked: Exclude<AskedHealth, { kind: 'idunn' }>): Probe {
  switch (asked.kind) {
    case 'http':
      return { kind: 'http', method: asked.method, path: asked.path, statuses: asked.status, body: asked.body ?? null };
    case 'tcp':
      return { kind: 'tcp' };
    case 'command': {
      const [program, ...words] = asked.argv.map(launchValue);
      if (program === undefined) throw new TypeError('an unchecked probe');
      return { kind: 'command', argv: [program, ...words] };
    }
  }
}

const launchValue = (word: string | { readonly slot: string }): LaunchValue =>
  typeof word === 'string' ? { literal: word } : { slot: word.slot };
