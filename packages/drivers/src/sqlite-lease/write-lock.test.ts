import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Yard } from './testing/yard.ts';
import { writersIn, writersOf } from './write-lock.ts';

test('the process that holds a store is named with the refusal', async (t) => {
  const yard = new Yard(t);
  const state = yard.state();
  assert.equal((await yard.lease.prepare(state)).ok, true);
  assert.deepEqual(writersOf(yard.path('app.db')), []);
  const holder = await yard.holder('app.db');
  const refused = await yard.lease.writeNonce(state, 'nonce-1');
  assert.equal(refused.ok, false);
  assert.deepEqual(refused.ok ? null : [refused.refusal.code, refused.refusal.detail], [
    'store-busy',
    { heldBy: [holder.child.pid] },
  ]);
});

test('only the writer of that very file counts', () => {
  const file = { device: { major: 0xfe, minor: 0 }, inode: 42 };
  const locks = `1: POSIX  ADVISORY  WRITE 11 fe:00:42 120 120
2: POSIX  ADVISORY  READ 12 fe:00:42 120 120
3: POSIX  ADVISORY  WRITE 13 fe:00:42 123 123
4: POSIX  ADVISORY  WRITE 14 fe:01:42 120 120
5: POSIX  ADVISORY  WRITE 15 fe:00:43 0 EOF
6: -> POSIX  ADVISORY  WRITE 16 fe:00:42 120 120
7: OFDLCK ADVISORY  WRITE -1 fe:00:42 120 120
8: POSIX  ADVISORY  WRITE 18 fe:00:42 0 EOF
`;
  assert.deepEqual(writersIn(locks, file), [11, 18]);
});
