/** One error that a user can meet. Its code never changes its meaning. */
export interface CatalogueEntry {
  /** What happened, in one sentence without names. */
  readonly reason: string;
  /** What to do next. */
  readonly remedy: string;
  /** Whose fault it is: the user's input, or the system underneath. */
  readonly blame: 'user' | 'system';
  /** Whether the same request can succeed later without a change. */
  readonly retry: 'retryable' | 'final';
}

/** Keeps the literal codes of a room's part of the catalogue. */
export const entries = <const T extends Readonly<Record<string, CatalogueEntry>>>(part: T): T => part;
