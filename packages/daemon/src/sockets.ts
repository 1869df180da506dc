import { chmod, lstat, mkdir, unlink } from 'node:fs/promises';
import { connect, type Server } from 'node:net';
import { dirname } from 'node:path';
import { SOCKET_PATH_LIMIT_BYTES } from '@idunn/client';
import { keepSocket, type Outcome, ok, refusal, refused, type Timers } from '@idunn/kernel';
import type { FastifyInstance } from 'fastify';

/** A socket path that the system can carry; checked before anything is made. */
export function checkSocketPath(path: string): Outcome<string> {
  const bytes = Buffer.byteLength(path);
  if (bytes <= SOCKET_PATH_LIMIT_BYTES) return ok(path);
  return refused(
    refusal(
      'socket-path-too-long',
      `The socket path ${path} has ${bytes} bytes, ${SOCKET_PATH_LIMIT_BYTES} are allowed.`,
    ),
  );
}

/**
 * Listens for one role: only its owner may connect. What a dead daemon left behind is taken away first, and where the
 * socket's file is taken away it is made again, until the server closes.
 */
export async function listenForRole(
  server: FastifyInstance,
  path: string,
  timers: Timers,
): Promise<Outcome<'listening'>> {
  if (await answers(path)) {
    return refused(refusal('daemon-already-running', `Another daemon already answers on ${path}.`));
  }
  let leave = (): void => undefined;
  server.addHook('preClose', async () => leave());
  await listenAt(path, () => server.listen({ path }));
  leave = keepSocket(path, timers, async () => {
    server.server.close();
    await listenAt(path, () => listenAgain(server.server, path));
  });
  return ok('listening');
}

const listenAgain = (server: Server, path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ path }, () => {
      server.off('error', reject);
      resolve();
    });
  });

async function listenAt(path: string, listen: () => Promise<unknown>): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await removeSocket(path);
  // There is no instant at which others may connect: the daemon's umask leaves none of them the bit to write, without
  // which none can. It is not narrowed for this, since whatever is made beside would lose bits of its own.
  await listen();
  await chmod(path, 0o600);
}

const answers = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });

async function removeSocket(path: string): Promise<void> {
  const found = await lstat(path).catch(() => null);
  if (found?.isSocket() === true) await unlink(path);
}
