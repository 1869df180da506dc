import type { World } from '../world/world.ts';
import type { Violation } from './judged.ts';
import { forgottenDeeds } from './restored.ts';

/**
 * I5: an epoch is never granted twice, what is told admitted rests on a receipt for exactly its activation, not on one
 * of an earlier launch of the same incarnation, and an activation whose credential was removed gets no other.
 */
export function noReplay(world: World): readonly Violation[] {
  return [...risingEpochs(world), ...ownReceipts(world), ...mintedOnce(world)];
}

/** Records that were put back know nothing of what was removed since they were copied. */
function mintedOnce(world: World): readonly Violation[] {
  const unrecorded = forgottenDeeds(world);
  const retired = new Set<string>();
  return world.ledger.entries.flatMap((entry): Violation[] => {
    if (entry.kind === 'retired' && !unrecorded.has(entry)) retired.add(entry.activation);
    if (entry.kind !== 'minted' || !retired.has(entry.activation)) return [];
    return [{ of: 'I5', atMs: entry.atMs, detail: `${entry.activation} was minted again after it had been removed` }];
  });
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
