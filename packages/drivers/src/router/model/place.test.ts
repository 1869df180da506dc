import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contractOf } from '../testing/rig.ts';
import { clashes, nameToAsk, placesOf, reachable } from './place.ts';

const listen = { host: '127.0.0.1', port: 443 };
const base = { ...(await contractOf()), listen };
const tls = { certificates: [{ certificate: '/c', key: '/k' }] };
const place = (more: object) => {
  const [first] = placesOf({ ...base, ...more });
  assert.ok(first);
  return first;
};

test('routes share an address under different names and the same protocol, and one of them may have no name', () => {
  assert.ok(!clashes(place({ names: ['a.org'] }), place({ names: ['b.org'] })));
  assert.ok(clashes(place({ names: ['a.org'] }), place({ names: ['b.org', 'a.org'] })));
  assert.ok(!clashes(place({ names: ['a.org'] }), place({ names: [] })));
  assert.ok(clashes(place({ names: [] }), place({ names: [] })));
  assert.ok(clashes(place({ names: ['a.org'] }), place({ names: ['b.org'], tls })));
  assert.ok(clashes(place({ names: ['a.org'], tls }), place({ names: ['b.org'], tls, protocol: 'tcp' })));
  assert.ok(!clashes(place({}), place({ listen: { host: '127.0.0.1', port: 444 } })));
});

test('redirects share an address, and nothing else shares it with them', () => {
  const redirect = { host: '127.0.0.1', port: 80 };
  const [, one] = placesOf({ ...base, tls, redirect, names: ['a.org'] });
  const [, other] = placesOf({ ...base, tls, redirect, names: ['a.org'] });
  assert.ok(one && other && !clashes(one, other));
  assert.ok(clashes(one, place({ listen: redirect })));
});

test('a listener that listens everywhere is reached on this machine, a name for any by one of them', () => {
  assert.deepEqual([reachable('0.0.0.0'), reachable('::'), reachable('192.0.2.1')], ['127.0.0.1', '::1', '192.0.2.1']);
  assert.deepEqual([nameToAsk([]), nameToAsk(['*.a.org'])], [undefined, 'idunn-observe.a.org']);
});
