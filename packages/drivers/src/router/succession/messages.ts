/**
 * What a router and its successor say to each other, over the channel that a child has to its parent. A listening
 * socket goes with its answer as a handle: both processes hold the same socket then, so that no connection, accepted or
 * not, is lost when the first lets go of it, and no stranger can ever bind beside it (F26).
 */
export type ToPredecessor =
  /** Its code is loaded; it has touched nothing yet. */
  { readonly kind: 'up' } | { readonly kind: 'want'; readonly address: string };

export type ToSuccessor =
  /** State, lock and control socket are the successor's to take. */
  { readonly kind: 'go' } | { readonly kind: 'listener'; readonly address: string };
