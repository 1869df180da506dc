import type { EngineEvent, OutcomeName } from '@idunn/authority';
import type { Scenario } from '../scenario.ts';
import type { Deed } from './ledger.ts';
import type { World } from './world.ts';

/** What was told becomes a part of the ledger, beside whom lease and route named at that moment. */
export function noteTold(world: World, shapes: Scenario['shapes'], event: EngineEvent): void {
  switch (event.event) {
    case 'phase': {
      const { target, transaction, phase, note } = event;
      if (event.tookMs === null) world.ledger.note({ kind: 'told-phase', target, transaction, phase, note });
      return;
    }
    case 'outcome': {
      const { target, transaction, incarnation } = event;
      const { stores, routed } = shapes[target] ?? { stores: 0, routed: false };
      const row = stores > 0 ? (world.named(target)?.activation ?? 'nobody') : null;
      const route = routed ? (world.route(target)?.members.map(({ activation }) => activation) ?? []) : null;
      const code = event.refusal?.code ?? null;
      world.ledger.note({ ...ending(event.outcome, code), target, transaction, incarnation, row, route });
      return;
    }
    case 'incident': {
      const { target, code, state } = event;
      world.ledger.note({ kind: 'told-incident', target, code, open: state === 'opened' });
      return;
    }
    default:
      return;
  }
}

type Ending = Pick<Extract<Deed, { kind: 'told-ended' }>, 'kind' | 'outcome' | 'code'>;

function ending(outcome: OutcomeName, code: string | null): Ending | { kind: 'told-admitted' | 'told-restored' } {
  if (outcome === 'admitted') return { kind: 'told-admitted' };
  if (outcome === 'restored') return { kind: 'told-restored' };
  return { kind: 'told-ended', outcome, code };
}
