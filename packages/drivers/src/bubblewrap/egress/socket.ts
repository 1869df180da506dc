import { chmod, open, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import { join } from 'node:path';

const NAME = 'egress.sock';

/** Listens in the directory, whatever its path's length: the socket is named through the open directory. */
export async function listenIn(directory: string, server: Server): Promise<string> {
  await forgetSocket(directory);
  const handle = await open(directory);
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(`/proc/self/fd/${handle.fd}/${NAME}`, resolve);
    });
  } finally {
    await handle.close();
  }
  const socket = join(directory, NAME);
  // Whoever reaches the directory may connect: Idunn itself, and the one step that it is shown to.
  await chmod(socket, 0o666);
  return socket;
}

/** Removes the socket, also one that a dead daemon left. */
export const forgetSocket = (directory: string): Promise<void> => rm(join(directory, NAME), { force: true });
