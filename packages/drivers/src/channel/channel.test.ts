import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import type { WorkloadHandle } from '@idunn/authority';
import { parseListeners } from './listener.ts';
import { codeOf, Peer, strangerKey } from './testing/peer.ts';

async function opened(peer: Peer): Promise<Peer> {
  await peer.listen();
  assert.equal(codeOf(await peer.driver.open(peer.handle())), 'ok');
  return peer;
}

test('both sides are proven, the newest presence follows, and opening again is harmless', async (t) => {
  const peer = await opened(new Peer(t));
  const { presence } = await peer.event('presence');
  assert.equal(presence.state, 'warming');
  const held = peer.driver.presence(peer.activation);
  assert.ok(held.kind === 'seen' && held.value.ageMs >= 0 && held.value.presence.header.sequence === 1);
  assert.equal(codeOf(await peer.driver.open(peer.handle())), 'ok');
  assert.deepEqual(
    peer.said.map(({ type }) => type),
    ['hello', 'welcome'],
  );
});

test('a program that listens later is reached when it does; two who ask share one connection', async (t) => {
  const peer = new Peer(t);
  const both = Promise.all([peer.driver.open(peer.handle()), peer.driver.open(peer.handle())]);
  await peer.listen();
  assert.deepEqual((await both).map(codeOf), ['ok', 'ok']);
});

test('a program that never listens is refused at the deadline, and closing ends the wait', async (t) => {
  const hurried = new Peer(t, { openWithinMs: 20 });
  assert.equal(codeOf(await hurried.driver.open(hurried.handle())), 'channel-not-listening');
  const patient = new Peer(t, { openWithinMs: 1e6 });
  const waiting = patient.driver.open(patient.handle());
  await patient.driver.close(patient.activation);
  assert.equal(codeOf(await waiting), 'channel-not-listening');
});

test('I5: a socket that is another process’s is refused, and so is a process that is gone', async (t) => {
  const peer = new Peer(t);
  await peer.listen();
  const other = spawn('/bin/sleep', ['1000'], { stdio: 'ignore' });
  assert.ok(other.pid);
  const handle = peer.handle(other.pid);
  assert.equal(codeOf(await peer.driver.open(handle)), 'channel-foreign-listener');
  other.kill('SIGKILL');
  await once(other, 'exit');
  assert.equal(codeOf(await peer.driver.open(handle)), 'channel-process-gone');
  assert.deepEqual(peer.said, []);
});

test('I5: a second process of the activation that cannot be ended is refused by its pid', async (t) => {
  const left = (handle: WorkloadHandle) => [{ ...handle.identity, pid: 4_242 }];
  const peer = new Peer(t, { endOthers: (handle) => Promise.resolve({ ended: [], left: left(handle) }) });
  await peer.listen();
  const outcome = await peer.driver.open(peer.handle());
  assert.ok(!outcome.ok && outcome.refusal.code === 'channel-second-process');
  assert.match(outcome.refusal.reason, /4242/);
});

test('I5: no proof without the activation’s key, this challenge, this process, this audience', async (t) => {
  const wrong: readonly ((peer: Peer) => void)[] = [
    (peer) => void (peer.answers['hello'] = () => null),
    (peer) =>
      void (peer.answers['hello'] = () => ({
        type: 'proof',
        fields: { challenge: '00'.repeat(32), counterChallenge: 'ab'.repeat(32), pid: process.pid },
      })),
    (peer) =>
      void (peer.answers['hello'] = ({ challenge }) => ({
        type: 'proof',
        fields: { challenge: String(challenge), counterChallenge: 'ab'.repeat(32), pid: 1 },
      })),
    (peer) => forge(peer, { keys: [strangerKey] }),
    (peer) => forge(peer, { header: { audience: { fleet: 'beta', machine: 'local' } } }),
    (peer) => forge(peer, { header: { subject: 'act-other' } }),
  ];
  for (const change of wrong) {
    const peer = new Peer(t, { answerWithinMs: 30 });
    change(peer);
    await peer.listen();
    assert.equal(codeOf(await peer.driver.open(peer.handle())), 'channel-proof-failed');
    assert.equal(peer.driver.presence(peer.activation).kind, 'unknown');
    assert.deepEqual(
      peer.said.map(({ type }) => type),
      ['hello'],
      'no welcome was said',
    );
  }
});

function forge(peer: Peer, more: Parameters<Peer['word']>[2] & object): void {
  peer.answers['hello'] = ({ challenge, header }) => {
    const fields = { challenge: String(challenge), counterChallenge: 'ab'.repeat(32), pid: process.pid };
    peer.word('proof', fields, { requestId: header.requestId, ...more });
    return null;
  };
}

test('I4, I5: a presence counts only with both signatures, rising, for this activation and process', async (t) => {
  const peer = await opened(new Peer(t));
  await peer.event('presence');
  const first = peer.presence({ epoch: 3 });
  const forged: readonly [RegExp, () => void][] = [
    [/came after/, () => peer.again(first)],
    [/no valid signature/, () => peer.presence({}, { keys: [peer.activationKey, strangerKey] })],
    [/no valid signature/, () => peer.presence({}, { keys: [strangerKey, peer.signerKey] })],
    [/meant for fleet/, () => peer.presence({}, { header: { audience: { fleet: 'alpha', machine: 'far' } } })],
    [/is about act-other/, () => peer.presence({}, { header: { subject: 'act-other' } })],
    [/speaks for act-other/, () => peer.presence({ activation: 'act-other' })],
    [/names epoch 2/, () => peer.presence({ epoch: 2 })],
    [/speaks for process 1/, () => peer.presence({ pid: 1 })],
    [/is no idunn.presence/, () => peer.presence({ more: 1 })],
  ];
  for (const [reason, say] of forged) {
    say();
    await peer.settled();
    assert.match(peer.dropped.at(-1) ?? '', reason);
  }
  assert.equal(peer.events.filter(({ kind }) => kind === 'presence').length, 2);
  const held = peer.driver.presence(peer.activation);
  assert.ok(held.kind === 'seen' && held.value.presence.epoch === 3);
});

test('I5: a presence that was heard on one connection is not heard again on the next', async (t) => {
  const peer = await opened(new Peer(t));
  await peer.event('presence');
  const old = peer.presence({ epoch: 1 });
  await peer.event('presence', 2);
  peer.hangUp();
  await peer.event('closed');
  assert.equal(peer.driver.presence(peer.activation).kind, 'unknown');
  assert.equal(codeOf(await peer.driver.open(peer.handle())), 'ok');
  await peer.event('presence', 3);
  peer.again(old);
  await peer.settled();
  assert.match(peer.dropped.at(-1) ?? '', /came after/);
});

test('commands are answered: echo, relinquish, withdraw, grant, and the first write is told', async (t) => {
  const peer = await opened(new Peer(t));
  assert.deepEqual(await peer.driver.echo(peer.activation, 'n1', 20_000), { kind: 'seen', value: { db: 'n1' } });
  const request = { requestId: 'rq-1', epoch: 3, termMs: 500 };
  assert.deepEqual(await peer.driver.relinquish(peer.activation, request, 20_000), {
    kind: 'relinquished',
    lastWriteAtMs: 12.5,
  });
  await peer.driver.withdraw(peer.activation, 'rq-1');
  const grant = { activation: peer.activation, stateId: 's', epoch: 4 };
  assert.deepEqual(await peer.driver.grant(peer.activation, grant), { ok: true, value: 'delivered' });
  const said = (type: string) => peer.said.find((one) => one.type === type);
  assert.equal(said('relinquish')?.header.requestId, 'rq-1');
  assert.equal(said('withdraw')?.['relinquishId'], 'rq-1');
  assert.deepEqual([said('grant')?.['stateId'], said('grant')?.['epoch']], ['s', 4]);
  const sequences = peer.said.map(({ header }) => header.sequence);
  assert.deepEqual(
    sequences,
    sequences.toSorted((a, b) => a - b),
  );
  peer.word('first-write', { epoch: 4, atMs: 17.25 });
  const { epoch, atMs } = await peer.event('first-write');
  assert.deepEqual([epoch, atMs], [4, 17.25]);
});

test('I10: silence is silence: no echo, no relinquishment, no delivery', async (t) => {
  const peer = await opened(new Peer(t, { answerWithinMs: 600 }));
  for (const command of ['echo', 'relinquish', 'withdraw', 'grant']) peer.answers[command] = () => null;
  assert.equal((await peer.driver.echo(peer.activation, 'n', 5)).kind, 'unknown');
  assert.equal(
    (await peer.driver.relinquish(peer.activation, { requestId: 'r', epoch: 1, termMs: 5 }, 5)).kind,
    'silent',
  );
  await peer.driver.withdraw(peer.activation, 'r');
  const grant = { activation: peer.activation, stateId: 's', epoch: 1 };
  assert.equal(codeOf(await peer.driver.grant(peer.activation, grant)), 'channel-silent');
  await peer.driver.close(peer.activation);
  assert.equal(codeOf(await peer.driver.grant(peer.activation, grant)), 'channel-closed');
  assert.equal(peer.events.filter(({ kind }) => kind === 'closed').length, 0, 'a close of ours is no event');
});

test('I5: an answer that is replayed, forged, or to another question is dropped', async (t) => {
  const peer = await opened(new Peer(t));
  peer.answers['echo'] = ({ header, nonce }) => {
    const fields = { nonces: { db: String(nonce) } };
    const requestId = header.requestId;
    peer.word('echoed', fields, { requestId, sequence: 1 });
    peer.word('echoed', fields, { requestId: 'another' });
    peer.word('granted', { epoch: 1 }, { requestId });
    peer.word('echoed', fields, { requestId, keys: [strangerKey] });
    return null;
  };
  assert.equal((await peer.driver.echo(peer.activation, 'n', 100)).kind, 'unknown');
  assert.equal(peer.dropped.length, 4);
});

test('a line that is no message ends the connection', async (t) => {
  const peer = await opened(new Peer(t));
  peer.raw('{"no": "message"}\n');
  assert.equal((await peer.event('closed')).activation, peer.activation);
});

test('only listening sockets count, under their whole path', () => {
  const text = `Num       RefCount Protocol Flags    Type St Inode Path
0000000000000000: 00000002 00000000 00010000 0001 01 1234 /run/a b/channel.sock
0000000000000000: 00000003 00000000 00000000 0001 03 1235 /run/a b/channel.sock
0000000000000000: 00000003 00000000 00000000 0001 03 1236
0000000000000000: 00000002 00000000 00010000 0001 01   77 /run/c.sock`;
  assert.deepEqual(
    [...parseListeners(text)],
    [
      ['/run/a b/channel.sock', ['1234']],
      ['/run/c.sock', ['77']],
    ],
  );
});
