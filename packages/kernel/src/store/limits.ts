/** Most records or entries that one read returns. */
export const MAX_PAGE = 10_000;
/** Most mutations, and most history drafts, of one batch. */
export const MAX_BATCH = 1_000;
/** Longest canonical form of one record or history entry. */
export const MAX_VALUE_BYTES = 4 * 1024 * 1024;
/** Most operations that wait for the store; one more is refused as a fault. */
export const MAX_WAITING = 10_000;
/** Most batches that share one sync of the disk. */
export const MAX_GROUP = 128;
/** Largest database file of a store, unless its owner says otherwise. */
export const MAX_STORE_BYTES = 16 * 1024 ** 3;
