import { access, mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname } from 'node:path';

export const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** Writes a file that is not there yet; throws `EEXIST` for one that came in between. */
export async function writeOnce(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text, { flag: 'wx' });
}

/** A directory that only its owner enters; one that is there stays as it is. */
export const makeOwnDirectory = async (path: string): Promise<void> =>
  void (await mkdir(path, { recursive: true, mode: 0o700 }));

/** Whether the loopback port can be bound now. */
export const isFreePort = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => server.close(() => resolve(true)));
  });
