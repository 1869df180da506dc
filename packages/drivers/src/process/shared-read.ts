/**
 * Lets callers at the same time share one costly read of the machine, but never one that began before they asked: what
 * they get is always at least as new as their question.
 */
export function sharedRead<T>(read: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | null = null;
  let next: Promise<T> | null = null;
  const begin = (): Promise<T> => {
    running = read().finally(() => {
      running = null;
    });
    return running;
  };
  const after = async (earlier: Promise<T>): Promise<T> => {
    await Promise.allSettled([earlier]);
    next = null;
    return begin();
  };
  return () => {
    if (running === null) return begin();
    next ??= after(running);
    return next;
  };
}
