import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Correlation } from '@idunn/authority';
import { digestJson, publicKeyOf } from '@idunn/kernel';
import { FakeTime } from '@idunn/kernel/testing';
import { SILENCE_MS } from '@idunn/readiness';
import { foreignKey, sampleExpected, sampleWorkload } from '@idunn/readiness/testing';
import { lostBecause, stands } from '../helper/testing/stands.ts';
import { RECONNECT_TO_MS } from './limits.ts';
import { bootId, Fleet, linked, receiptOf, until } from './testing/observer-process.ts';

const ghost = sampleWorkload({ target: 'ghostlight', bootId });
const fleets: Fleet[] = [];
after(async () => {
  for (const fleet of fleets) await fleet.dispose();
});

function newFleet(): Fleet {
  const fleet = new Fleet();
  fleets.push(fleet);
  fleet.enrol(ghost);
  return fleet;
}

async function publish(link: ReturnType<Fleet['link']>, workload = ghost): Promise<void> {
  assert.ok((await link.publishExpected(workload.key, workload.expected)).ok);
  assert.ok((await link.publishActivation(workload.activation, workload.observed)).ok);
}

test('I4: published, observed and present, an incarnation is Ready by the observer’s signature', async () => {
  const fleet = newFleet();
  await fleet.start();
  const link = fleet.link();
  await linked(link);
  assert.deepEqual(link.read(ghost.key), { kind: 'absent' });
  await publish(link);
  const bare = link.read(ghost.key);
  assert.ok(bare.kind === 'seen' && bare.value.present === null && bare.value.ready === null);
  const socket = await fleet.connect();
  socket.write(ghost.line(1));
  await until(link, () => receiptOf(link, ghost.key) !== null);
  const word = link.read(ghost.key);
  assert.ok(word.kind === 'seen');
  const { activation, present, ready } = word.value;
  assert.equal(activation, ghost.activation.activation);
  assert.deepEqual([present?.state, present?.epoch, present?.sequence, present?.fresh], ['active', 1, 1, true]);
  assert.deepEqual([ready?.activation, ready?.epoch, ready?.sequence], [activation, 1, 1]);
  assert.match(ready?.receipt ?? '', /^sha256:/);
  assert.equal(digestJson(ready?.envelope), ready?.receipt, 'the receipt itself was heard, and is what is named');
  assert.ok((await link.demote(ghost.key, ghost.activation.activation)).ok);
  assert.equal(receiptOf(link, ghost.key), null);
  assert.ok((await link.withdraw(ghost.key)).ok);
  assert.deepEqual(link.read(ghost.key), { kind: 'absent' });
});

test('I7: a second launch of the same build takes the key and gives it back', async () => {
  const fleet = newFleet();
  await fleet.start();
  const link = fleet.link();
  await linked(link);
  await publish(link);
  const socket = await fleet.connect();
  socket.write(ghost.line(1));
  await until(link, () => receiptOf(link, ghost.key) !== null);
  const second = sampleWorkload({ target: 'ghostlight', bootId, launch: 2 });
  assert.ok((await link.publishActivation(second.activation, second.observed)).ok);
  assert.equal(receiptOf(link, ghost.key), null);
  assert.ok((await link.demote(ghost.key, second.activation.activation)).ok);
  assert.ok((await link.publishActivation(ghost.activation, ghost.observed)).ok);
  await until(link, () => receiptOf(link, ghost.key) !== null);
  const third = sampleWorkload({ target: 'ghostlight', bootId, launch: 3 });
  assert.ok((await link.publishActivation(third.activation, third.observed)).ok);
  assert.ok((await link.demote(ghost.key, ghost.activation.activation)).ok);
  const word = link.read(ghost.key);
  assert.ok(word.kind === 'seen' && word.value.activation === third.activation.activation);
});

test('the observer’s refusals come back under their codes', async () => {
  const fleet = newFleet();
  await fleet.start();
  const link = fleet.link();
  await linked(link);
  const codeOf = (outcome: { ok: true } | { ok: false; refusal: { code: string } }) =>
    outcome.ok ? null : outcome.refusal.code;
  const other = `ghostlight@${digestJson('another')}` as const;
  assert.equal(codeOf(await link.publishExpected(other, ghost.expected)), 'expected-key-mismatch');
  assert.equal(codeOf(await link.publishActivation(ghost.activation, ghost.observed)), 'expected-unknown');
  await publish(link);
  assert.equal(codeOf(await link.demote(ghost.key, 'activation-0')), 'activation-not-current');
  assert.equal(codeOf(await link.publishExpected(other, sampleExpected())), 'expected-key-mismatch');
});

test('I10: while the link is down every answer is unknown and every request is refused at once', async () => {
  const fleet = newFleet();
  await fleet.start();
  const link = fleet.link();
  await linked(link);
  await publish(link);
  await fleet.kill();
  await until(link, () => link.peer() === null);
  assert.equal(link.read(ghost.key).kind, 'unknown');
  const outcome = await link.withdraw(ghost.key);
  assert.ok(!outcome.ok);
  assert.equal(outcome.refusal.code, 'observer-unreachable');
});

test('after the observer’s death the link is back with what was published, and Ready must be said anew', async () => {
  const fleet = newFleet();
  await fleet.start();
  const link = fleet.link();
  await linked(link);
  await publish(link);
  const socket = await fleet.connect();
  socket.on('error', () => undefined);
  socket.write(ghost.line(1));
  await until(link, () => receiptOf(link, ghost.key) !== null);
  const before = receiptOf(link, ghost.key);
  await fleet.kill();
  await fleet.start();
  await until(link, () => link.peer()?.activation === 'activation-observer-r1-2');
  const word = link.read(ghost.key);
  assert.ok(word.kind === 'seen' && word.value.activation === ghost.activation.activation);
  assert.equal(word.value.ready, null);
  const again = await fleet.connect();
  again.write(ghost.line(1));
  again.write(ghost.line(2));
  await until(link, () => receiptOf(link, ghost.key) !== null);
  assert.notEqual(receiptOf(link, ghost.key), before);
});

test('a daemon that comes later gets everything that stands', async () => {
  const fleet = newFleet();
  const many = Array.from({ length: 300 }, (_, index) => sampleWorkload({ target: `target-${index}`, bootId }));
  fleet.enrol(...many);
  await fleet.start();
  const first = fleet.link();
  await linked(first);
  await Promise.all(many.map((one) => publish(first, one)));
  const sockets = await Promise.all(many.map(() => fleet.connect()));
  sockets.forEach((socket, index) => socket.write(many[index]?.line(1) ?? ''));
  await until(first, () => many.every((one) => receiptOf(first, one.key) !== null));
  const receipts = many.map((one) => receiptOf(first, one.key));
  first.close();
  const second = fleet.link();
  await linked(second);
  assert.deepEqual(
    many.map((one) => receiptOf(second, one.key)),
    receipts,
  );
});

test('I10: a link on which nothing is heard is down, whatever the socket says', async () => {
  const fleet = newFleet();
  mkdirSync(fleet.sockets);
  const accepted: Socket[] = [];
  const mute = createServer((socket) => accepted.push(socket)).listen(join(fleet.sockets, 'link.sock'));
  await once(mute, 'listening');
  const time = new FakeTime();
  const link = fleet.link({ clock: time.clock, timers: time });
  const [socket] = (await once(mute, 'connection')) as [Socket];
  await once(socket, 'data');
  assert.equal(link.peer(), null);
  time.pass(SILENCE_MS);
  socket.resume();
  await once(socket, 'close');
  assert.match(JSON.stringify(link.standing()), /down.*has said nothing for 15000 ms/);
  // And it comes again.
  time.pass(RECONNECT_TO_MS);
  await once(mute, 'connection');
  link.close();
  for (const one of accepted) one.destroy();
  mute.close();
});

test('the link says how it stands, and why it is lost, as it comes and goes', async () => {
  const fleet = newFleet();
  const link = fleet.link();
  assert.deepEqual(link.standing(), { kind: 'trying' });
  await stands(link, lostBecause(/ENOENT/));
  await fleet.start();
  await stands(link, ({ kind }) => kind === 'up');
  await fleet.kill();
  await stands(link, lostBecause(/ECONNREFUSED/));
});

test('I4: an observer with another key is no observer, and a daemon with another key is not heard', async () => {
  const fleet = newFleet();
  await fleet.start();
  const dropped: string[] = [];
  let noted: () => void = () => undefined;
  const log = (text: string) => {
    dropped.push(text);
    noted();
  };
  const wary = fleet.link({ observerPublicKey: publicKeyOf(foreignKey.privateKey), log });
  while (dropped.length < 2) {
    await new Promise<void>((resolve) => {
      noted = resolve;
    });
  }
  assert.match(dropped[0] ?? '', /welcome of the observer was dropped.*no valid signature/);
  assert.equal(wary.peer(), null);
  assert.equal(wary.read(ghost.key).kind, 'unknown');
  const stranger = fleet.link({ authority: foreignKey });
  const honest = fleet.link();
  await linked(honest);
  assert.equal(stranger.peer(), null);
});

test('a change is told as it happens: warming, active, disagreement, and what follows', async () => {
  const fleet = newFleet();
  await fleet.start();
  const link = fleet.link();
  await linked(link);
  await publish(link);
  const told: Correlation[] = [];
  link.subscribe((event) => {
    if (event.kind === 'correlation') told.push(event.correlation);
  });
  const socket = await fleet.connect();
  socket.write(ghost.line(1, { state: 'warming', epoch: null }));
  await until(link, () => told.length === 1);
  socket.write(ghost.line(2));
  await until(link, () => told.length === 3);
  socket.write(ghost.line(3, { pid: 1 }));
  await until(link, () => told.length === 4);
  assert.deepEqual(
    told.map(({ present, ready, disagreements }) => [present?.state, ready !== null, disagreements.length]),
    [
      ['warming', false, 0],
      ['active', false, 0],
      ['active', true, 0],
      ['active', false, 1],
    ],
  );
});
