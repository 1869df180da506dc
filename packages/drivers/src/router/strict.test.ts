import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startRawBackend } from './testing/backend.ts';
import { wire } from './testing/client.ts';
import { contractOf, rig } from './testing/rig.ts';

const router = await rig({ after });

/** Each is a way to make a proxy and its backend disagree about where a request ends or whom it is for. */
const SMUGGLED: readonly { readonly what: string; readonly head: string; readonly status: number }[] = [
  { what: 'a length and chunks', head: 'Content-Length: 3\r\nTransfer-Encoding: chunked\r\n', status: 400 },
  { what: 'chunks and a length', head: 'Transfer-Encoding: chunked\r\nContent-Length: 3\r\n', status: 400 },
  { what: 'two lengths', head: 'Content-Length: 3\r\nContent-Length: 4\r\n', status: 400 },
  { what: 'a list of lengths', head: 'Content-Length: 3, 4\r\n', status: 400 },
  { what: 'a length with a sign', head: 'Content-Length: +3\r\n', status: 400 },
  { what: 'chunked twice', head: 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n', status: 400 },
  { what: 'chunked and something after it', head: 'Transfer-Encoding: chunked, identity\r\n', status: 400 },
  { what: 'another coding before chunked', head: 'Transfer-Encoding: gzip, chunked\r\n', status: 501 },
  { what: 'a coding that is nearly chunked', head: 'Transfer-Encoding: xchunked\r\n', status: 501 },
  { what: 'a space before the colon', head: 'Transfer-Encoding : chunked\r\n', status: 400 },
  { what: 'a folded line', head: 'X-A: 1\r\n Transfer-Encoding: chunked\r\n', status: 400 },
  { what: 'a NUL', head: 'X-A: a\0b\r\n', status: 400 },
  { what: 'a bare line feed', head: 'X-A: 1\nX-B: 2\r\n', status: 400 },
  { what: 'a bare carriage return', head: 'X-A: 1\rX-B: 2\r\n', status: 400 },
  { what: 'a second Host', head: 'Host: other\r\n', status: 400 },
  { what: 'more header than fits', head: `X-A: ${'a'.repeat(20_000)}\r\n`, status: 431 },
];

test('a request that can be read in two ways never reaches a backend, and its connection ends', async (t) => {
  let reached = 0;
  const backend = await startRawBackend('one', (_request, response) => {
    reached++;
    response.end();
  });
  t.after(() => backend.close());
  const contract = await contractOf({ name: 'strict' });
  await router.serve(contract, [backend.member]);
  for (const { what, head, status } of SMUGGLED) {
    const client = await wire(contract.listen.port);
    client.write(`POST / HTTP/1.1\r\nHost: x\r\n${head}\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n`);
    assert.match(await client.ended(), new RegExp(`^HTTP/1\\.1 ${status} `), what);
  }
  for (const line of [
    'GET http://other/ HTTP/1.1\r\nHost: x\r\n\r\n',
    'GET / HTTP/1.1\r\n\r\n',
    'GET other/ HTTP/1.1\r\nHost: x\r\n\r\n',
    'POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ]) {
    const client = await wire(contract.listen.port);
    client.write(line);
    assert.match(await client.ended(), /^HTTP\/1\.1 400 /, line);
  }
  assert.equal(reached, 0);
});

test('a chunk size that is none ends the request and its connection, and no answer is passed for whole', async (t) => {
  const backend = await startRawBackend('one', (request, response) => {
    request.on('error', () => undefined).resume();
    request.on('end', () => response.end('whole'));
  });
  t.after(() => backend.close());
  const contract = await contractOf({ name: 'chunks' });
  await router.serve(contract, [backend.member]);
  for (const size of ['zz', '-1', '0x3', '1 1', 'fffffffffffffffff']) {
    const client = await wire(contract.listen.port);
    client.write(
      `POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n${size}\r\nabc\r\n0\r\n\r\n`,
    );
    assert.doesNotMatch(await client.ended(), /whole/, size);
  }
});

test('a whole URL counts when its authority is the Host, and is forwarded as a path', async (t) => {
  const backend = await startRawBackend('one', (request, response) => void response.end(`${request.url}`));
  t.after(() => backend.close());
  const contract = await contractOf({ name: 'absolute' });
  await router.serve(contract, [backend.member]);
  for (const [url, path] of [
    ['http://x/a?b', '/a?b'],
    ['http://X', '/'],
    ['https://x?q', '/?q'],
  ] as const) {
    const client = await wire(contract.listen.port);
    client.write(`GET ${url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    assert.ok((await client.ended()).endsWith(`\r\n\r\n${path}`), url);
  }
});
