import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { symlink } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { scratch, writeAll } from '../../testing/repository.ts';
import { STATIC_SERVER } from './static-server.ts';

/** Says its port once it listens: the server itself prints nothing. */
const SAYS_PORT = `import { Server } from 'node:net';
const listen = Server.prototype.listen;
Server.prototype.listen = function (...words) {
  this.once('listening', () => console.log(this.address().port));
  return listen.apply(this, words);
};
`;

async function serving(t: TestContext, root: string): Promise<number> {
  const child = spawn(
    process.execPath,
    ['--import', join(root, 'says-port.mjs'), join(root, 'serve.mjs'), join(root, 'site')],
    {
      env: { PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  t.after(async () => {
    const gone = once(child, 'exit');
    child.kill('SIGTERM');
    assert.deepEqual(await gone, [0, null], 'it ends by itself when it is asked to');
  });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return Number(line);
}

/** The path as it is written: no client tidies it up before it is sent. */
function ask(port: number, path: string, method = 'GET'): Promise<{ status: number; type: string; body: string }> {
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', path, method, agent: false }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (piece: string) => (body += piece));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, type: response.headers['content-type'] ?? '', body }),
      );
    });
    sent.on('error', reject).end();
  });
}

test('the server for sites answers with files of its directory, and with nothing else', async (t) => {
  const root = await scratch(t);
  await writeAll(root, {
    'serve.mjs': STATIC_SERVER,
    'says-port.mjs': SAYS_PORT,
    'secret.txt': 'secret',
    'site/index.html': '<p>home',
    'site/about/index.html': '<p>about',
    'site/.env': 'secret',
  });
  await symlink(join(root, 'secret.txt'), join(root, 'site/link.txt'));
  const port = await serving(t, root);
  assert.deepEqual(await ask(port, '/'), { status: 200, type: 'text/html; charset=utf-8', body: '<p>home' });
  assert.equal((await ask(port, '/about')).body, '<p>about');
  assert.deepEqual(await ask(port, '/', 'HEAD'), { status: 200, type: 'text/html; charset=utf-8', body: '' });
  for (const path of [
    '/../secret.txt',
    '/..%2fsecret.txt',
    '/%2e%2e/secret.txt',
    '/link.txt',
    '/.env',
    '/about/../.env',
    '/%00',
    '/none',
    '/%',
  ]) {
    const { status, body } = await ask(port, path);
    assert.ok(status === 404 || status === 400, `${path} answered ${status}`);
    assert.doesNotMatch(body, /secret/, path);
  }
  assert.equal((await ask(port, '/', 'POST')).status, 405);
});
