import assert from 'node:assert/strict';
import { test } from 'node:test';
import { peerOf, requestHead } from './headers.ts';

function headersFor(raw: readonly string[], address: string, method = 'GET'): Record<string, string> {
  const { headers } = requestHead(method, raw, peerOf(address), 8080);
  const result: Record<string, string> = {};
  for (let index = 0; index < headers.length; index += 2) {
    result[(headers[index] ?? '').toLowerCase()] = headers[index + 1] ?? '';
  }
  return result;
}

const claims = [
  'Host',
  'shop',
  'X-Forwarded-For',
  '10.9.8.7',
  'X-Forwarded-Proto',
  'https',
  'Forwarded',
  'for=10.9.8.7',
];

test('a peer elsewhere is not believed about who its client is', () => {
  const headers = headersFor(claims, '203.0.113.5');
  assert.equal(headers['x-forwarded-for'], '203.0.113.5');
  assert.equal(headers['x-forwarded-proto'], 'http');
  assert.equal(headers['x-forwarded-port'], '8080');
  assert.equal(headers['forwarded'], 'for=203.0.113.5;host="shop";proto=http');
});

test('a front on this machine is believed, and added to', () => {
  for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) {
    const headers = headersFor(claims, address);
    assert.equal(headers['x-forwarded-for'], `10.9.8.7, ${address}`);
    assert.equal(headers['x-forwarded-proto'], 'https');
    assert.match(headers['forwarded'] ?? '', /^for=10\.9\.8\.7, for=/);
  }
});

test('an address of version 6 is quoted, and a host that is none stays out of Forwarded', () => {
  assert.equal(headersFor(['Host', 'a"; for=evil'], '2001:db8::1')['forwarded'], 'for="[2001:db8::1]";proto=http');
});

test('Connection cannot name away the host or the framing', () => {
  const headers = headersFor(
    ['Host', 'shop', 'Content-Length', '3', 'Connection', 'Host, Content-Length'],
    '::1',
    'POST',
  );
  assert.deepEqual([headers['host'], headers['content-length']], ['shop', '3']);
});

test('a body is framed anew: chunked, by its length, or none', () => {
  const peer = peerOf('::1');
  const hasBody = (method: string, raw: readonly string[]): boolean => requestHead(method, raw, peer, 1).hasBody;
  assert.equal(hasBody('GET', []), false);
  assert.equal(hasBody('POST', []), false);
  assert.equal(hasBody('POST', ['Content-Length', '0']), false);
  assert.equal(hasBody('GET', ['Transfer-Encoding', 'chunked']), true);
  assert.equal(headersFor([], '::1', 'POST')['content-length'], '0');
  assert.equal(headersFor(['transfer-encoding', 'chunked'], '::1', 'POST')['transfer-encoding'], 'chunked');
});
