import type { StateStore } from '@idunn/release';

/** What the copier is told, in its environment's place on stdin: one JSON text, then silence until it has ended. */
export interface CopyOrders {
  /** The state as it lives; only ever read. */
  readonly from: string;
  /** A new directory for the copy. */
  readonly to: string;
  readonly stores: readonly StateStore[];
  readonly limitBytes: number;
}

export type CopyAnswer =
  | { readonly kind: 'copied'; readonly bytes: number }
  /** Measured before anything was written. */
  | { readonly kind: 'too-large'; readonly bytes: number }
  | { readonly kind: 'no-space'; readonly bytes: number; readonly freeBytes: number }
  | { readonly kind: 'failed'; readonly because: string };
