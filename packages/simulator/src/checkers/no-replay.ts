import type { World } from '../world/world.ts';
import type { Violation } from './judged.ts';

/**
 * I5: an epoch is never granted twice, and what is told admitted rests on a receipt for exactly its activation, not on
 * one of an earlier launch of the same incarnation.
 */
export function noReplay(world: World): readonly Violation[] {
  return [...risingEpochs(world), ...ownReceipts(world)];
}

function risingEpochs(world: World): readonly Violation[] {
  const last = new Map<string, { epoch: number; activation: string }>();
  return world.ledger.of('row').flatMap(({ atMs, store, epoch, activation }): Violation[] => {
    if (activation === null) return [];
    const before = last.get(store);
    last.set(store, { epoch, activation });
    if (before === undefined || epoch > before.epoch) return [];
    return [
      { of: 'I5', atMs, detail: `${activation} holds epoch ${epoch} after ${before.activation} held ${before.epoch}` },
    ];
  });
}

function ownReceipts(world: World): readonly Violation[] {
  const signed = world.ledger.of('ready');
  return world.ledger.of('told-admitted').flatMap(({ atMs, incarnation, row, route }): Violation[] => {
    const activation = row ?? route?.[0] ?? null;
    const ofAnother = signed.some((ready) => ready.incarnation === incarnation && ready.atMs <= atMs);
    if (activation === null || !ofAnother) return [];
    const own = signed.some((ready) => ready.activation === activation && ready.atMs <= atMs);
    return own ? [] : [{ of: 'I5', atMs, detail: `${activation} was admitted on the receipt of an earlier launch` }];
  });
}
