import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

const fixture = (name: string): string => readFileSync(new URL(`./fixtures/${name}`, import.meta.url), 'utf8');

/** The self-signed certificate of the test server, in PEM; its key is public, so it proves nothing to anybody else. */
export const testCertificate = fixture('localhost.cert.pem');

/** An HTTPS server on a free loopback port that counts what it is asked. */
export async function httpsServer(
  context: { after(work: () => Promise<void>): void },
  listener: RequestListener,
): Promise<{ readonly url: string; readonly requests: string[] }> {
  const requests: string[] = [];
  const server = createServer({ cert: testCertificate, key: fixture('localhost.key.pem') }, (request, response) => {
    requests.push(request.url ?? '');
    listener(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return { url: `https://localhost:${(server.address() as AddressInfo).port}`, requests };
}
