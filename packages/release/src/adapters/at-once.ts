/** Files of one tree that are read or written at the same time. */
export const FILES_AT_ONCE = 16;

/** Runs the work over the items, at most `limit` at a time. A failure is thrown once no work goes on any more. */
export async function atOnce<T>(limit: number, items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  const queue = oneAfterAnother(items);
  const worker = async (): Promise<void> => {
    // A throw closes the queue that all workers share.
    for (const item of queue) await work(item);
  };
  const ends = await Promise.allSettled(Array.from({ length: limit }, worker));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

function* oneAfterAnother<T>(items: Iterable<T>): Generator<T> {
  yield* items;
}
