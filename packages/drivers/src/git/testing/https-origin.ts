import { once } from 'node:events';
import { createReadStream, readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const fixture = (name: string): URL => new URL(`./fixtures/${name}`, import.meta.url);

/** The self-signed certificate of the test server; its key is public, so it proves nothing to anybody else. */
export const certificates = fileURLToPath(fixture('localhost.cert.pem'));

/** Serves a bare repository's files over HTTPS, as git's dumb protocol reads them; `moved` answers with a redirect. */
export async function httpsOrigin(
  context: { after(work: () => Promise<void>): void },
  directory: string,
): Promise<{ readonly url: string; readonly requests: string[] }> {
  const requests: string[] = [];
  const server = createServer(
    { cert: readFileSync(certificates), key: readFileSync(fixture('localhost.key.pem')) },
    (request, response) => {
      const path = normalize((request.url ?? '/').replace(/\?.*/, ''));
      requests.push(path);
      const target = (request.url ?? '').replace('/moved', '');
      if (path.startsWith('/moved/')) response.writeHead(302, { location: target }).end();
      else
        createReadStream(join(directory, path))
          .on('error', () => response.writeHead(404).end())
          .pipe(response);
    },
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return { url: `https://localhost:${(server.address() as AddressInfo).port}`, requests };
}
