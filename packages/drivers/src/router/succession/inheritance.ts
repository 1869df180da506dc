import { Server } from 'node:net';
import type { ToPredecessor, ToSuccessor } from './messages.ts';

/** Where a successor finds the sockets that its predecessor listens with. */
export interface Inheritance {
  /** Calls `adopt` with the socket at once when it comes; `false` when there is none. */
  take(address: string, adopt: (from: Server) => void): Promise<boolean>;
}

export const NOTHING_INHERITED: Inheritance = { take: () => Promise.resolve(false) };

/**
 * Resolves once the predecessor has let go, by its word or by its death; then this process is the router. A socket must
 * be listened with in the turn in which it comes, else what is accepted meanwhile reaches nobody.
 */
export async function inherit(): Promise<Inheritance & { close(): void }> {
  const wanted = new Map<string, (from: Server | null) => void>();
  const say = (message: ToPredecessor): boolean => process.connected && process.send?.(message) !== undefined;
  const { promise: gone, resolve: go } = Promise.withResolvers<void>();
  const nothingMore = (): void => {
    for (const settle of wanted.values()) settle(null);
    wanted.clear();
  };
  process.on('disconnect', () => {
    go();
    nothingMore();
  });
  process.on('message', (message: ToSuccessor, handle: unknown) => {
    if (message.kind === 'go') return go();
    const settle = wanted.get(message.address);
    wanted.delete(message.address);
    settle?.(handle instanceof Server ? handle : null);
  });
  if (!say({ kind: 'up' })) go();
  await gone;
  return {
    take(address, adopt) {
      return new Promise((resolve) => {
        wanted.set(address, (from) => {
          if (from !== null) adopt(from);
          resolve(from !== null);
        });
        if (!say({ kind: 'want', address })) {
          wanted.delete(address);
          resolve(false);
        }
      });
    },
    close() {
      if (process.connected) process.disconnect?.();
    },
  };
}
