import { chmod, lstat, unlink } from 'node:fs/promises';
import { connect } from 'node:net';
import { SOCKET_PATH_LIMIT_BYTES } from '@idunn/client';
import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
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

/** Listens for one role: only its owner may connect. What a dead daemon left behind is taken away first. */
export async function listenForRole(server: FastifyInstance, path: string): Promise<Outcome<'listening'>> {
  if (await answers(path)) {
    return refused(refusal('daemon-already-running', `Another daemon already answers on ${path}.`));
  }
  await removeSocket(path);
  // The mode is set by the umask while the socket is made: there is no instant at which others may connect.
  const before = process.umask(0o177);
  try {
    await server.listen({ path });
  } finally {
    process.umask(before);
  }
  await chmod(path, 0o600);
  return ok('listening');
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
