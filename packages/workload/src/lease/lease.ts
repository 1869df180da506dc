/**
 * What this program knows about its permission to write. Knowing is not having: each write still compares the row in
 * its own transaction (I1). Pure: the same lease and event always give the same lease.
 */
export type Lease =
  /** It may not write. Only a grant above `floor` changes that: the row, or a later grant, has spoken (I1, I5). */
  | { readonly kind: 'none'; readonly floor: number }
  | { readonly kind: 'writing'; readonly epoch: number }
  /** Asked to step aside. It goes on only if the row, read again, still names it. */
  | {
      readonly kind: 'relinquished';
      readonly epoch: number;
      /** Request id of the newest `relinquish`. */
      readonly by: string;
      /** Monotonic; `null` has no term. */
      readonly termEndsAtMs: number | null;
    };

export const NO_LEASE: Lease = { kind: 'none', floor: 0 };

export type GrantAnswer =
  | { readonly kind: 'take'; readonly next: Lease }
  /** Written under already: a daemon that was restarted says so again. */
  | { readonly kind: 'repeat' }
  /** The epoch of a lease that was relinquished: the row decides, as with a withdrawal. */
  | { readonly kind: 'resume' }
  | { readonly kind: 'stale'; readonly floor: number };

/** A grant counts only when its epoch is above everything that this program has held or seen refused (I5). */
export function onGrant(lease: Lease, epoch: number): GrantAnswer {
  const floor = lease.kind === 'none' ? lease.floor : lease.epoch;
  if (epoch > floor) return { kind: 'take', next: { kind: 'writing', epoch } };
  if (lease.kind === 'none' || epoch < lease.epoch) return { kind: 'stale', floor };
  return { kind: lease.kind === 'writing' ? 'repeat' : 'resume' };
}

/** A relinquish of what is not held changes nothing; a repeat takes the newest id and term. */
export function onRelinquish(
  lease: Lease,
  request: { readonly epoch: number; readonly by: string; readonly termEndsAtMs: number | null },
): Lease {
  if (lease.kind === 'none' || request.epoch !== lease.epoch) return lease;
  return { kind: 'relinquished', ...request };
}

/** Whether a `withdraw` means the relinquish that is in force. */
export const isWithdrawn = (lease: Lease, relinquishId: string): boolean =>
  lease.kind === 'relinquished' && lease.by === relinquishId;

export const isTermOver = (lease: Lease, nowMs: number): boolean =>
  lease.kind === 'relinquished' && lease.termEndsAtMs !== null && nowMs >= lease.termEndsAtMs;

/** The row was read inside a writing transaction and still names this activation. */
export const onStillNamed = (lease: Lease): Lease =>
  lease.kind === 'relinquished' ? { kind: 'writing', epoch: lease.epoch } : lease;

/** The row named somebody else: final until a higher epoch is granted (I1). */
export function onRowRefused(lease: Lease, epoch: number): Lease {
  const held = lease.kind === 'none' ? lease.floor : lease.epoch;
  return held > epoch ? lease : { kind: 'none', floor: epoch };
}

/** The epoch that it writes under, `null` while it may not write. */
export const writingEpoch = (lease: Lease): number | null => (lease.kind === 'writing' ? lease.epoch : null);
