import type { World } from '../world/world.ts';
import { isCalmBut, isEveryBuildGood, isEveryBuildOnce } from './calm.ts';
import { intents } from './intents.ts';
import type { Judged, Violation } from './judged.ts';
import { Forgetting, forgotten } from './restored.ts';

/**
 * I6: a death of Idunn resumes the exact transaction. Intents are durable before effects, what a death interrupted goes
 * on to the end that it had without it, no launch is made twice, and completion is never inferred.
 */
export const crashProof = (judged: Judged): readonly Violation[] => [
  ...intents(judged.world),
  ...notResumed(judged),
  ...launchedTwice(judged),
  ...completeTooEarly(judged.world),
];

/** Where nothing else befell it, a good deployment ends as it does without a death. */
function notResumed({ world, results, deploys, scenario }: Judged): readonly Violation[] {
  const deaths = world.ledger.of('crash').length;
  const calm = isCalmBut(scenario, { strikes: ['daemon-killed'], misfortune: 'death' });
  if (deaths === 0 || !calm || !isEveryBuildGood(scenario)) return [];
  return results.flatMap((result, index): Violation[] => {
    if (result === null || result.outcome === 'admitted' || result.outcome === 'unchanged') return [];
    const why = `${result.outcome} (${result.refusal?.code})`;
    const detail = `deploy ${index} of ${deploys[index]?.target} ended ${why} for a death of Idunn`;
    return [{ of: 'I6', atMs: world.time.nowMs, detail }];
  });
}

/** A launch that neither lease nor route ever named, beside another such one of the same build. */
function launchedTwice({ world, scenario }: Judged): readonly Violation[] {
  if (scenario.orders.length > 0) return [];
  const named = new Set<string>();
  const alive = new Map<string, string>();
  const forgetting = new Forgetting(world);
  return world.ledger.entries.flatMap((entry): Violation[] => {
    forgetting.take(entry);
    switch (entry.kind) {
      case 'row':
        if (entry.activation !== null) named.add(entry.activation);
        return [];
      case 'routed':
        for (const id of entry.activations) named.add(id);
        return [];
      case 'ended':
        alive.delete(entry.activation);
        return [];
      case 'started': {
        const { activation, atMs } = entry;
        const { target = '', incarnation = '' } = world.activations.get(activation) ?? {};
        const twin = [...alive].find(
          ([id, of]) => of === incarnation && !named.has(id) && !forgetting.forgotten.has(id),
        )?.[0];
        alive.set(activation, incarnation);
        // Without lease and route nothing names anybody, and the same build again replaces itself.
        const { stores = 0, routed = false } = scenario.shapes[target] ?? {};
        if (twin === undefined || (stores === 0 && !routed) || !isEveryBuildOnce(scenario, target)) return [];
        return [{ of: 'I6', atMs, detail: `${activation} was launched beside ${twin}, which nobody had ended` }];
      }
      default:
        return [];
    }
  });
}

/** What a deployment displaced has ended before it is told complete (F15). */
function completeTooEarly(world: World): readonly Violation[] {
  const standing = new Map<string, string>();
  const displaced = new Map<string, string>();
  const ended = new Set<string>();
  const unknown = forgotten(world);
  return world.ledger.entries.flatMap((entry): Violation[] => {
    switch (entry.kind) {
      case 'ended':
        ended.add(entry.activation);
        return [];
      case 'told-admitted':
      case 'told-restored': {
        const { target, transaction } = entry;
        const before = standing.get(target);
        const now = entry.row ?? entry.route?.[0];
        if (before !== undefined && before !== now) displaced.set(transaction, before);
        if (now !== undefined) standing.set(target, now);
        return [];
      }
      case 'told-phase': {
        const left = entry.phase === 'complete' ? displaced.get(entry.transaction) : undefined;
        if (left === undefined || ended.has(left) || unknown.has(left)) return [];
        const detail = `${entry.transaction} was told complete, and ${left} that it displaced still runs`;
        return [{ of: 'I6', atMs: entry.atMs, detail }];
      }
      default:
        return [];
    }
  });
}
