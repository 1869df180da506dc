import assert from 'node:assert/strict';
import { chmodSync, existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { signEnvelope, systemClock } from '@idunn/kernel';
import { LINK_SCHEMAS, MAX_LINE_BYTES, type ObserverRequest, verifyPresence } from '@idunn/readiness';
import {
  audience,
  authorityKey,
  foreignKey,
  presenceLine,
  sampleLaunch,
  sampleWorkload,
  verifierOf,
} from '@idunn/readiness/testing';
import { Daemon, Home, payloadOf, RunningObserver, Wire } from './testing/running.ts';

const { bootId } = systemClock();
const odin = sampleWorkload({ target: 'observer', stateful: false, bootId });
const ghost = sampleWorkload({ target: 'ghostlight', bootId });
const started: RunningObserver[] = [];
const homes: Home[] = [];

after(async () => {
  for (const observer of started) await observer.end('SIGKILL');
  for (const home of homes) rmSync(home.root, { recursive: true });
});

function newHome(): Home {
  const home = new Home();
  homes.push(home);
  return home;
}

async function start(home: Home, observer = odin, until = 'serving'): Promise<RunningObserver> {
  const running = new RunningObserver(home, observer);
  started.push(running);
  await running.logs(until);
  return running;
}

test('I4: what was published, observed and signed becomes Ready over the real sockets', async () => {
  const home = newHome();
  await start(home);
  const daemon = await Daemon.link(home);
  await daemon.publish(ghost);
  const workload = await Wire.open(home.presence);
  workload.socket.write(ghost.line(1, { state: 'warming', epoch: null }));
  assert.equal(payloadOf(await daemon.wire.next('statement'))['state'], 'warming');
  workload.socket.write(ghost.line(2));
  const receipt = payloadOf(await daemon.wire.next('receipt'));
  assert.equal(receipt['activation'], ghost.activation.activation);
  assert.equal((await workload.next('presence-ack'))['sequence'], 1);
  assert.equal((await workload.next('presence-ack'))['sequence'], 2);
  assert.equal(statSync(home.link).mode & 0o777, 0o600);
  // Workloads beside root may be other users; their words are signed.
  assert.equal(statSync(home.presence).mode & 0o777, process.geteuid?.() === 0 ? 0o666 : 0o600);
});

test('a presence that comes before its activation is published is kept, the newest of each connection', async () => {
  const home = newHome();
  await start(home);
  const daemon = await Daemon.link(home);
  await daemon.publishExpected(ghost);
  const workload = await Wire.open(home.presence);
  workload.socket.write(ghost.line(1, { state: 'warming', epoch: null }));
  workload.socket.write(ghost.line(2));
  const stranger = await Wire.open(home.presence);
  const forged = signEnvelope(ghost.says(9), [foreignKey, foreignKey]);
  stranger.send('presence', forged);
  // An answer to what came after them shows that both were looked at.
  const almanac = sampleWorkload({ target: 'almanac', bootId });
  await daemon.publish(almanac);
  for (const wire of [workload, stranger]) wire.socket.write('{"type":"other"}\n');
  const witness = await Wire.open(home.presence);
  witness.socket.write(almanac.line(1));
  await witness.next('presence-ack');
  await daemon.must({ kind: 'publish-activation', activation: ghost.activation, observed: ghost.observed });
  assert.equal((await workload.next('presence-ack', 'presence-refused'))['sequence'], 2);
  assert.equal((await stranger.next('presence-refused'))['code'], 'envelope-not-signed');
});

test('I4: a request that the authority did not sign changes nothing, nor one before the hello', async () => {
  const home = newHome();
  const observer = await start(home);
  const daemon = await Daemon.link(home);
  await daemon.publish(ghost);
  const demote: ObserverRequest = { kind: 'demote', incarnation: ghost.key, activation: ghost.activation.activation };
  daemon.wire.send('request', daemon.signed(LINK_SCHEMAS.request, 90, { request: demote }, foreignKey));
  await observer.logs('a request was dropped');
  const elsewhere = { ...audience, fleet: 'other' };
  const header = { issuer: authorityKey.keyId, audience: elsewhere, subject: 'other', requestId: 'r', sequence: 91 };
  const foreign = signEnvelope({ header: { schema: LINK_SCHEMAS.request, ...header }, request: demote }, [
    authorityKey,
  ]);
  daemon.wire.send('request', foreign);
  const unobserved = { kind: 'publish-activation', activation: ghost.activation };
  daemon.wire.send('request', daemon.signed(LINK_SCHEMAS.request, 92, { request: unobserved }));
  const uninvited = await Wire.open(home.link);
  uninvited.send('request', daemon.signed(LINK_SCHEMAS.request, 93, { request: demote }));
  await observer.logs('it was not its turn');
  const workload = await Wire.open(home.presence);
  workload.socket.write(ghost.line(1));
  await daemon.wire.next('receipt');
});

test('I5: killed and started again, the observer refuses the replay and keeps what was published', async () => {
  const home = newHome();
  const first = await start(home);
  const daemon = await Daemon.link(home);
  await daemon.publish(ghost);
  const workload = await Wire.open(home.presence);
  const captured = ghost.line(3);
  workload.socket.write(captured);
  await workload.next('presence-ack');
  await first.end('SIGKILL');
  await start(home, sampleWorkload({ target: 'observer', stateful: false, bootId, launch: 2 }));
  const again = await Daemon.link(home);
  const roster = payloadOf(await again.wire.next('batch')) as { kind: string; standings: { activation: string }[] };
  assert.equal(roster.kind, 'roster-end');
  assert.equal(roster.standings[0]?.activation, ghost.activation.activation);
  const attacker = await Wire.open(home.presence);
  attacker.socket.write(captured);
  assert.equal((await attacker.next('presence-refused'))['code'], 'presence-replayed');
  const back = await Wire.open(home.presence);
  back.socket.write(ghost.line(4));
  assert.equal(payloadOf(await again.wire.next('receipt'))['presenceSequence'], 4);
});

test('a line that is too long or no JSON ends its own connection and no other', async () => {
  const home = newHome();
  await start(home);
  const daemon = await Daemon.link(home);
  await daemon.publish(ghost);
  const workload = await Wire.open(home.presence);
  const long = await Wire.open(home.presence);
  long.socket.write('x'.repeat(MAX_LINE_BYTES + 1));
  await long.ended();
  const odd = await Wire.open(home.presence);
  odd.socket.write('not json\n');
  await odd.ended();
  workload.socket.write(ghost.line(1));
  await workload.next('presence-ack');
});

test('a flood on one connection keeps no other from being heard', async () => {
  const home = newHome();
  await start(home);
  const daemon = await Daemon.link(home);
  await daemon.publish(ghost);
  const flood = await Wire.open(home.presence);
  flood.socket.pause();
  const forged = presenceLine(signEnvelope(ghost.says(1), [foreignKey, foreignKey])).repeat(500);
  for (let sent = 0; sent < 20; sent++) flood.socket.write(forged);
  const workload = await Wire.open(home.presence);
  for (let sequence = 1; sequence <= 5; sequence++) {
    workload.socket.write(ghost.line(sequence));
    assert.equal((await workload.next('presence-ack'))['sequence'], sequence);
  }
});

test('the observer proves itself on its channel as any workload, and says active by itself', async () => {
  const home = newHome();
  const observer = await start(home);
  const channel = await Wire.open(join(observer.directory, 'channel.sock'));
  const say = (schema: string, body: object, key = authorityKey) => {
    const subject = odin.activation.activation;
    const header = { schema, issuer: key.keyId, audience, subject, requestId: 'c', sequence: 1 };
    return signEnvelope({ header, ...body }, [key]);
  };
  const challenge = 'cd'.repeat(32);
  channel.send('hello', say('idunn.channel-hello/v1', { challenge }, foreignKey));
  channel.send('hello', say('idunn.channel-hello/v1', { challenge }));
  const proof = payloadOf(await channel.next('proof'));
  assert.equal(proof['challenge'], challenge);
  assert.equal(proof['pid'], observer.process.pid);
  const { counterChallenge } = proof;
  channel.send('welcome', say('idunn.channel-welcome/v1', { counterChallenge }));
  const { envelope } = await channel.next('presence');
  const verified = verifyPresence({
    envelope,
    activation: { activation: odin.activation.activation, key: verifierOf(odin.activationKey) },
    signer: verifierOf(odin.signerKey),
    audience,
    trail: { sequence: 0, epoch: 0 },
  });
  assert.ok(verified.ok);
  assert.equal(verified.value.presence.state, 'active');
  // Without the proof of the counter-challenge a connection gets no presence.
  const impostor = await Wire.open(join(observer.directory, 'channel.sock'));
  impostor.send('hello', say('idunn.channel-hello/v1', { challenge }));
  await impostor.next('proof');
  impostor.send('welcome', say('idunn.channel-welcome/v1', { counterChallenge }));
  await observer.logs('a channel welcome was replayed');
});

test('an upgrade stands by, is correlated by the incumbent, and takes over when that one ends', async () => {
  const home = newHome();
  const incumbent = await start(home);
  const daemon = await Daemon.link(home);
  await daemon.publish(ghost);
  const candidate = new RunningObserver(
    home,
    sampleWorkload({ target: 'observer', stateful: false, bootId, revision: 'r2' }),
  );
  started.push(candidate);
  const upgrade = sampleWorkload({
    target: 'observer',
    stateful: false,
    bootId,
    revision: 'r2',
    pid: candidate.process.pid ?? 0,
  });
  await daemon.publish(upgrade);
  const receipt = payloadOf(await daemon.wire.next('receipt'));
  assert.equal(receipt['incarnation'], upgrade.key);
  assert.equal(await incumbent.end('SIGTERM'), 0);
  await candidate.logs('serving');
  const next = await Daemon.link(home);
  const roster = payloadOf(await next.wire.next('batch')) as { standings: { incarnation: string }[] };
  assert.deepEqual(
    new Set(roster.standings.map(({ incarnation }) => incarnation)),
    new Set<string>([ghost.key, upgrade.key]),
  );
  const workload = await Wire.open(home.presence);
  workload.socket.write(ghost.line(1));
  await next.wire.next('receipt');
});

test('without its launch document, or with a key that others can read, it does not start and says why', async () => {
  const home = newHome();
  const spoils: [(directory: string) => void, string][] = [
    [(directory) => rmSync(join(directory, 'launch.json')), 'ENOENT'],
    [(directory) => chmodSync(join(directory, 'signer.key'), 0o644), 'key-readable-by-others'],
    [(directory) => writeFileSync(join(directory, 'launch.json'), sampleLaunch(ghost)), 'Expected names'],
  ];
  for (const [spoil, reason] of spoils) {
    const running = new RunningObserver(home, odin, spoil);
    started.push(running);
    await running.logs(reason);
    assert.equal(await running.ended(), 1);
  }
});

test('an observer whose sockets were taken away is within reach again', async () => {
  const home = newHome();
  await start(home);
  rmSync(dirname(home.link), { recursive: true });
  const deadlineMs = systemClock().monotonicMs() + 10_000;
  while (!(existsSync(home.link) && existsSync(home.presence))) {
    assert.ok(systemClock().monotonicMs() < deadlineMs, 'both sockets are there again');
    await new Promise((resolve) => setImmediate(resolve));
  }
  const daemon = await Daemon.link(home);
  await daemon.publish(ghost);
});
