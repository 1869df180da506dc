import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { realMachine } from './edge/machine.ts';
import { IdunnError, NotWriter } from './errors.ts';
import { type ConnectOptions, Idunn } from './idunn.ts';
import type { GuardedStore } from './sqlite/guarded-store.ts';
import {
  ACTIVATION,
  ACTIVATION_KEY,
  type LaunchFields,
  LeaseHand,
  makeActivation,
  makeStore,
  OTHER,
  SIGNER_KEY,
  STATE_ID,
  scratch,
} from './testing/authority.ts';
import { code } from './testing/code.ts';
import { AuthorityPeer, FakeProgram, ObserverPeer } from './testing/peers.ts';
import { signedBy } from './words/envelope.ts';

const STATE = { stateSchema: 'world/1' };

async function managed(t: TestContext, fields: LaunchFields = {}, options: ConnectOptions = {}) {
  const directory = scratch(t);
  const path = join(directory, 'world.db');
  makeStore(path, 1, null);
  const stores = fields.stores === null ? null : [{ id: 'world', kind: 'sqlite' as const, path }];
  const activation = makeActivation(join(directory, 'a'), { ...fields, stores });
  const program = new FakeProgram({ IDUNN_ACTIVATION_DIRECTORY: activation, IDUNN_ACTIVATION: ACTIVATION });
  const edges = { machine: realMachine, program };
  const idunn = await Idunn.connect({ ...(stores === null ? {} : STATE), ...options }, edges);
  const hand = new LeaseHand(path);
  const authority = new AuthorityPeer(join(activation, 'channel.sock'));
  t.after(() => {
    authority.close();
    idunn.close();
    hand.close();
  });
  return { idunn, program, hand, authority, directory, activation, edges };
}

const insert = (store: GuardedStore, text: string): unknown =>
  store.write((database) => database.prepare('INSERT INTO world (text) VALUES (?)').run(text));

test('outside of Idunn the program is told so, and how to go on', async () => {
  const edges = { machine: realMachine, program: new FakeProgram() };
  await assert.rejects(Idunn.connect({}, edges), (error) => {
    assert.ok(error instanceof IdunnError && error.code === 'workload-not-managed');
    assert.match(error.message, /Idunn\.standalone/);
    return true;
  });
  assert.equal(Idunn.isManaged(edges.program), false);
});

test('a program with state says which schema it means, or does not start', async (t) => {
  await assert.rejects(managed(t, {}, { stateSchema: undefined as never }), code('workload-schema-undeclared'));
});

test('I5: a second process of one activation is refused', async (t) => {
  const { edges } = await managed(t);
  await assert.rejects(Idunn.connect(STATE, edges), code('workload-already-running'));
});

test('a deployment as the workload sees it: warming, grant, first write, relinquish', async (t) => {
  const { idunn, hand, authority } = await managed(t);
  const world = idunn.store('world');
  idunn.warm();
  const proof = await authority.open();
  assert.ok(signedBy(proof.envelope, ACTIVATION_KEY.publicKey));
  assert.equal(proof.payload['pid'], 4242);
  const warming = await authority.presence((payload) => payload['state'] === 'warming');
  assert.equal(warming.payload['epoch'], null);
  assert.ok(signedBy(warming.envelope, ACTIVATION_KEY.publicKey) && signedBy(warming.envelope, SIGNER_KEY.publicKey));
  assert.throws(() => insert(world, 'too early'), NotWriter);
  assert.throws(() => idunn.active(), code('workload-not-granted'));

  hand.nonce('nonce-9');
  authority.say('echo', { nonce: 'nonce-9' });
  assert.deepEqual((await authority.heard('echoed')).payload['nonces'], { world: 'nonce-9' });

  hand.swap(2, ACTIVATION);
  const grantId = authority.say('grant', { stateId: STATE_ID, epoch: 2 });
  assert.equal((await authority.heard('granted')).payload.header.requestId, grantId);
  const active = await authority.presence((payload) => payload['state'] === 'active');
  assert.equal(active.payload['epoch'], 2);

  insert(world, 'one');
  insert(world, 'two');
  const first = await authority.heard('first-write');
  assert.equal(first.payload['epoch'], 2);

  authority.say('relinquish', { epoch: 2, termMs: null });
  const relinquished = await authority.heard('relinquished');
  assert.equal(relinquished.payload['epoch'], 2);
  assert.ok(Number(relinquished.payload['lastWriteAtMs']) >= Number(first.payload['atMs']));
  await authority.presence((payload) => payload['epoch'] === null);
  assert.throws(() => insert(world, 'too late'), NotWriter);
  assert.deepEqual(hand.world(), ['one', 'two']);
});

test('the answer to relinquish waits for asynchronous handlers, and no write is let in meanwhile', async (t) => {
  const { idunn, hand, authority } = await managed(t);
  const world = idunn.store('world');
  const [entered, leave] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  idunn.onRelinquish(async () => {
    entered.resolve();
    await leave.promise;
  });
  idunn.warm();
  await authority.open();
  hand.swap(2, ACTIVATION);
  authority.say('grant', { stateId: STATE_ID, epoch: 2 });
  await authority.presence((payload) => payload['state'] === 'active');
  authority.say('relinquish', { epoch: 2, termMs: 60_000 });
  await entered.promise;
  assert.throws(() => insert(world, 'late'), NotWriter);
  leave.resolve();
  await authority.heard('relinquished');
  const id = 'req-4';
  authority.say('withdraw', { relinquishId: id });
  assert.equal((await authority.heard('withdrawn')).payload['writing'], true);
  insert(world, 'again');
});

test('onGrant runs before active, may write, and its failure is said', async (t) => {
  const { idunn, hand, authority, program } = await managed(t);
  const world = idunn.store('world');
  idunn.onGrant(async ({ epoch }) => {
    insert(world, `epoch ${epoch}`);
    if (epoch === 3) throw new Error('cannot load');
  });
  idunn.warm();
  await authority.open();
  hand.swap(2, ACTIVATION);
  authority.say('grant', { stateId: STATE_ID, epoch: 2 });
  await authority.presence((payload) => payload['state'] === 'active');
  assert.deepEqual(hand.world(), ['epoch 2']);
  hand.swap(3, ACTIVATION);
  authority.say('grant', { stateId: STATE_ID, epoch: 3 });
  const failed = await authority.presence((payload) => payload['state'] === 'failed');
  assert.match(String(failed.payload['detail']), /cannot load/);
  assert.deepEqual(program.lines, []);
});

test('a grant that comes before warm() is kept until then', async (t) => {
  const { idunn, hand, authority } = await managed(t);
  await authority.open();
  hand.swap(2, ACTIVATION);
  authority.say('grant', { stateId: STATE_ID, epoch: 2 });
  await authority.heard('granted');
  idunn.store('world');
  idunn.warm();
  assert.equal(idunn.epoch, 2);
});

test('a newer proven connection takes the place of the older one; a lost one changes nothing', async (t) => {
  const { idunn, hand, authority, activation } = await managed(t);
  const world = idunn.store('world');
  idunn.warm();
  await authority.open();
  hand.swap(2, ACTIVATION);
  authority.say('grant', { stateId: STATE_ID, epoch: 2 });
  const active = await authority.presence((payload) => payload['state'] === 'active');
  const newer = new AuthorityPeer(join(activation, 'channel.sock'));
  t.after(() => newer.close());
  const closed = once(authority.socket, 'close');
  await newer.open();
  const again = await newer.presence(() => true);
  assert.ok(again.payload.header.sequence > active.payload.header.sequence, 'the newest word, with a fresh sequence');
  assert.equal(again.payload['epoch'], 2);
  await closed;
  newer.close();
  insert(world, 'still the writer');
});

test('presence goes to the observer on change, again and again, and anew after it came back', async (t) => {
  const socket = join(scratch(t), 'o.sock');
  const first = new ObserverPeer();
  await first.listen(socket);
  const { idunn, program } = await managed(t, { stores: null, observerSocket: socket, presenceEveryMs: 20 });
  idunn.warm();
  idunn.active();
  const active = await first.presence('active');
  const later = await first.presence('active');
  assert.ok(later.payload.header.sequence > active.payload.header.sequence);
  first.answer({ type: 'presence-refused', sequence: 1, code: 'schema-mismatch', reason: 'for the log' });
  await first.presence('active');
  idunn.degraded('slow');
  assert.equal((await first.presence('degraded')).payload['detail'], 'slow');
  assert.match(program.lines.join('\n'), /schema-mismatch/);
  await first.close();
  const second = new ObserverPeer();
  await second.listen(socket);
  t.after(() => second.close());
  const anew = await second.presence('degraded');
  assert.ok(anew.payload.header.sequence > later.payload.header.sequence);
});

test('the endpoint in the presence is where the program really listens', async (t) => {
  const { idunn, authority } = await managed(t, { stores: null, port: 1 }, {});
  assert.deepEqual(idunn.endpoint, { host: '127.0.0.1', port: 1 });
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  idunn.warm();
  await authority.open();
  assert.equal((await authority.presence(() => true)).payload['endpoint'], null);
  const { port } = server.address() as { port: number };
  idunn.listening({ host: '127.0.0.1', port });
  assert.deepEqual((await authority.presence((payload) => payload['endpoint'] !== null)).payload['endpoint'], {
    host: '127.0.0.1',
    port,
  });
});

test('F30: a secret never leaves in a presence or a log', async (t) => {
  const { idunn, authority } = await managed(t, { stores: null, secrets: { token: 'tok-123456' } });
  idunn.warm();
  await authority.open();
  idunn.failed(`cannot log in with ${idunn.secret('token')}`);
  const failed = await authority.presence((payload) => payload['state'] === 'failed');
  assert.equal(failed.payload['detail'], 'cannot log in with [secret token]');
});

test('F25: the program exits as soon as its stop handlers are done', async (t) => {
  const { idunn, program } = await managed(t, { stores: null }, { stopLimitMs: 60_000 });
  const order: string[] = [];
  idunn.onStop(async () => {
    await Promise.resolve();
    order.push('stopped');
  });
  assert.equal(await program.terminate(), 0);
  assert.deepEqual(order, ['stopped']);
});

test('a stop handler that never ends, or throws, ends in exit code 1 and a line in the log', async (t) => {
  const endless = await managed(t, { stores: null }, { stopLimitMs: 10 });
  endless.idunn.onStop(() => new Promise(() => {}));
  const waiting = setInterval(() => {}, 1_000); // Something keeps a real program alive; the SDK's timers do not.
  assert.equal(await endless.program.terminate(), 1);
  clearInterval(waiting);
  assert.match(endless.program.lines.join('\n'), /had not ended after 10 ms/);
  const throwing = await managed(t, { stores: null });
  throwing.idunn.onStop(() => {
    throw new Error('no');
  });
  assert.equal(await throwing.program.terminate(), 1);
});

test('standalone: the newest process writes, and a managed database is never taken', async (t) => {
  const directory = scratch(t);
  const edges = () => ({ machine: realMachine, program: new FakeProgram() });
  const stores = { world: join(directory, 'dev.db') };
  const [older, newer] = [await Idunn.standalone({ stores }, edges()), await Idunn.standalone({ stores }, edges())];
  t.after(() => {
    older.close();
    newer.close();
  });
  const world = newer.store('world');
  newer.onGrant(() => {
    world.write((database) => {
      database.exec('CREATE TABLE IF NOT EXISTS world (id INTEGER PRIMARY KEY, text TEXT)');
    });
  });
  newer.warm();
  insert(world, 'dev');
  const late = older.store('world');
  older.warm();
  assert.throws(() => insert(late, 'older'), NotWriter);
  const managedPath = join(directory, 'managed.db');
  makeStore(managedPath, 5, OTHER);
  await assert.rejects(Idunn.standalone({ stores: { world: managedPath } }, edges()), code('workload-store-managed'));
});
