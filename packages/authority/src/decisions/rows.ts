import type { LeaseRow, LeaseRows } from '../ports/lease-port.ts';
import type { Move, Standing } from '../records/passage.ts';

/** What the rows of all stores say together. */
export type RowsReading =
  | { readonly kind: 'uniform'; readonly standing: Standing }
  /** The move was begun in some stores and not ended in all. */
  | { readonly kind: 'moving' }
  | { readonly kind: 'differing'; readonly detail: string };

const same = (row: LeaseRow, standing: Standing): boolean =>
  row.epoch === standing.epoch && row.activation === standing.activation;

export const sameStanding = (a: Standing, b: Standing): boolean => a.epoch === b.epoch && a.activation === b.activation;

/**
 * Reads the rows against a move that may be under way. Rows that no such move explains differ, and nothing is granted.
 */
export function readRows(rows: LeaseRows, move: Move | null): RowsReading {
  const list = Object.values(rows);
  const first = list[0];
  if (first === undefined) return { kind: 'differing', detail: 'no store carries a row' };
  const standing = { epoch: first.epoch, activation: first.activation };
  const uniform = list.every((row) => same(row, standing));
  const halfway = move !== null && { epoch: move.to.epoch, activation: null };
  // Revoked everywhere on the way to a grant is a move that goes on, not a row that names nobody.
  if (halfway && move.to.activation !== null && uniform && sameStanding(standing, halfway)) return { kind: 'moving' };
  if (uniform) return { kind: 'uniform', standing };
  const explained = halfway && list.every((row) => same(row, move.from) || same(row, move.to) || same(row, halfway));
  if (explained) return { kind: 'moving' };
  const detail = Object.entries(rows).map(([store, row]) => `${store}: ${row.activation ?? 'nobody'} at ${row.epoch}`);
  return { kind: 'differing', detail: detail.join(', ') };
}
