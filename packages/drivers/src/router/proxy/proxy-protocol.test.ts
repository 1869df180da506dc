import assert from 'node:assert/strict';
import { test } from 'node:test';
import { proxyHeader } from './proxy-protocol.ts';

const hex = (client: string, local: string): string =>
  proxyHeader({ address: client, port: 0x1234 }, { address: local, port: 443 }).toString('hex');
const SIGNATURE = '0d0a0d0a000d0a515549540a';

test('the header of each family, as PROXY protocol version 2 writes it', () => {
  assert.equal(hex('192.0.2.1', '198.51.100.2'), `${SIGNATURE}2111000cc0000201c6336402123401bb`);
  assert.equal(hex('::ffff:192.0.2.1', '::ffff:198.51.100.2'), hex('192.0.2.1', '198.51.100.2'));
  const wide = '20010db8000000000000000000000001fe800000000000000000000000000002';
  assert.equal(hex('2001:db8::1', 'fe80::2%eth0'), `${SIGNATURE}21210024${wide}123401bb`);
  const mixed = '00000000000000000000ffffc000020100000000000000000000000000000001';
  assert.equal(hex('192.0.2.1', '::1'), `${SIGNATURE}21210024${mixed}123401bb`);
});
