import { chmodSync, unlinkSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';

/** Connections that may wait to be taken: every workload of a machine comes back at once after a restart. */
const BACKLOG = 4_096;

/**
 * Listens on a Unix socket that only this user can reach. What lies there is a leftover: its maker held the same
 * lock.
 */
export async function listenPrivately(path: string, accept: (socket: Socket) => void): Promise<Server> {
  try {
    unlinkSync(path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
  const server = createServer(accept);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ path, backlog: BACKLOG }, () => resolve());
  });
  chmodSync(path, 0o600);
  return server;
}

/** Stops listening and removes the socket; connections that are open stay their owner's to end. */
export const closeServer = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
  });
