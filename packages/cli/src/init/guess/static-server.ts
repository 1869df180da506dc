/** A server for a site of files: no dependency, nothing but GET and HEAD, nothing outside its directory. */
export const STATIC_SERVER = `// Serves the files of one directory on HOST and PORT of the environment:
// node serve.mjs DIRECTORY
import { createReadStream } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, sep } from 'node:path';

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.webp': 'image/webp',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
  '.xml': 'application/xml',
  '.pdf': 'application/pdf',
  '.wasm': 'application/wasm',
};
const root = await realpath(process.argv[2] ?? '.');

/** The file behind a path of a URL, or null. Hidden names are never served. */
async function fileFor(path) {
  const names = decodeURIComponent(path).split('/');
  if (names.some((name) => name.startsWith('.') || name.includes('\\0'))) return null;
  for (const candidate of [join(root, ...names), join(root, ...names, 'index.html')]) {
    const real = await realpath(candidate).catch(() => null);
    if (real === null || !(real + sep).startsWith(root + sep)) continue;
    const found = await stat(real);
    if (found.isFile()) return { real, size: found.size, modified: found.mtime };
  }
  return null;
}

const server = createServer(async (request, response) => {
  try {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.writeHead(405, { allow: 'GET, HEAD' }).end();
      return;
    }
    const file = await fileFor(new URL(request.url, 'http://site').pathname);
    if (file === null) {
      response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' }).end('not found\\n');
      return;
    }
    response.writeHead(200, {
      'content-type': TYPES[extname(file.real)] ?? 'application/octet-stream',
      'content-length': file.size,
      'last-modified': file.modified.toUTCString(),
      'x-content-type-options': 'nosniff',
    });
    if (request.method === 'HEAD') response.end();
    else createReadStream(file.real).on('error', () => response.destroy()).pipe(response);
  } catch {
    if (!response.headersSent) response.writeHead(400);
    response.end();
  }
});
server.listen(Number(process.env.PORT ?? 8080), process.env.HOST ?? '127.0.0.1');
process.on('SIGTERM', () => server.close(() => process.exit(0)));
`;
