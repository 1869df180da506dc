import type { LeaseRow, SwapRequest } from '@idunn/authority';

/**
 * Where one store's row stands on the way of a swap. `revoked` is the step between with several stores: the new epoch,
 * naming nobody.
 */
export type Place = 'from' | 'revoked' | 'to' | 'elsewhere';

/** Pure. A row that is already `to` is `to`, so a repeated swap changes nothing. */
export function placeOf(row: LeaseRow, stateId: string, { from, to }: SwapRequest): Place {
  if (row.stateId !== stateId) return 'elsewhere';
  if (row.epoch === to.epoch && row.activation === to.activation) return 'to';
  if (row.epoch === from.epoch && row.activation === from.activation) return 'from';
  return row.epoch === to.epoch && row.activation === null ? 'revoked' : 'elsewhere';
}
