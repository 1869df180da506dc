import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

const fixture = (name: string): URL => new URL(`../../git/testing/fixtures/${name}`, import.meta.url);

export const CERTIFICATE = readFileSync(fixture('localhost.cert.pem'), 'utf8');

export interface Registry {
  readonly port: number;
  readonly url: string;
  readonly asked: string[];
  /** A lockfile of npm for a project that depends on the one package here. */
  readonly lockfile: string;
}

/** One package, `greeting` 1.0.0, behind http or https on loopback. */
export async function openRegistry(
  context: { after(work: () => Promise<void>): void },
  scheme: 'http' | 'https',
): Promise<Registry> {
  const tarball = packed({
    'package/package.json': JSON.stringify({ name: 'greeting', version: '1.0.0', main: 'index.js' }),
    'package/index.js': "module.exports = 'hail';\n",
  });
  const asked: string[] = [];
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    asked.push(`${request.method} ${request.url}`);
    if (request.url?.endsWith('.tgz')) response.end(tarball);
    else response.writeHead(404).end('not here\n');
  };
  const server =
    scheme === 'http'
      ? createHttpServer(answer)
      : createHttpsServer({ cert: CERTIFICATE, key: readFileSync(fixture('localhost.key.pem')) }, answer);
  await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0 }, resolve));
  context.after(async () => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const url = `${scheme}://localhost:${port}`;
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
  const greeting = { version: '1.0.0', resolved: `${url}/greeting/-/greeting-1.0.0.tgz`, integrity };
  const root = { name: 'app', version: '1.0.0', dependencies: { greeting: '1.0.0' } };
  const lockfile = JSON.stringify({
    name: 'app',
    version: '1.0.0',
    lockfileVersion: 3,
    packages: { '': root, 'node_modules/greeting': greeting },
  });
  return { port, url, asked, lockfile };
}

/** A gzipped ustar archive. */
function packed(files: Readonly<Record<string, string>>): Buffer {
  const blocks = Object.entries(files).flatMap(([name, text]) => {
    const header = Buffer.alloc(512);
    header.write(name, 0);
    header.write('0000644\0', 100);
    header.write('0000000\0', 108);
    header.write('0000000\0', 116);
    header.write(`${Buffer.byteLength(text).toString(8).padStart(11, '0')}\0`, 124);
    header.write('00000000000\0', 136);
    header.write('        ', 148);
    header.write('0', 156);
    header.write('ustar\0', 257);
    header.write('00', 263);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    const body = Buffer.alloc(Math.ceil(Buffer.byteLength(text) / 512) * 512);
    body.write(text);
    return [header, body];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1_024)]));
}
