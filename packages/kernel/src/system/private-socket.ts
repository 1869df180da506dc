import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';
import type { Timers } from '../clock.ts';
import { keepSocket } from './kept-socket.ts';

/** Connections that may wait to be taken: every workload of a machine comes back at once after a restart. */
const BACKLOG = 4_096;

/** Who may connect: this user alone, or everybody who can pass through to the socket. */
export type SocketAudience = 'this-user' | 'everybody';

/**
 * Listens on a Unix socket that only this user can reach, unless it is for everybody. What lies there is a leftover:
 * its maker held the same lock. Where the socket’s file is taken away it is made again.
 */
export async function listenPrivately(
  path: string,
  timers: Timers,
  accept: (socket: Socket) => void,
  audience: SocketAudience = 'this-user',
): Promise<PrivateServer> {
  const server = createServer(accept);
  await listen(server, path, audience);
  const leave = keepSocket(path, timers, async () => {
    server.close();
    await listen(server, path, audience);
  });
  return {
    close() {
      leave();
      return new Promise((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

/** Closing stops listening and removes the socket; connections that are open stay their owner's to end. */
export interface PrivateServer {
  close(): Promise<void>;
}

async function listen(server: Server, path: string, audience: SocketAudience): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  rmSync(path, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ path, backlog: BACKLOG }, () => {
      server.off('error', reject);
      resolve();
    });
  });
  if (audience === 'everybody') chmodSync(dirname(path), 0o711);
  chmodSync(path, audience === 'everybody' ? 0o666 : 0o600);
}
