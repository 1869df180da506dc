import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { type Answer, type Client, createClient } from '@idunn/client';
import * as schemas from '@idunn/client/schemas';
import { StoreFault } from '@idunn/kernel';
import { pino } from 'pino';
import { authorization, FakeEngine, fakeParts, INCARNATION } from '../testing/fake-parts.ts';
import { EventLog } from './event-log.ts';
import { apiServer } from './server.ts';

interface Fixture {
  readonly engine: FakeEngine;
  readonly events: EventLog;
  readonly client: Client;
  readonly socket: string;
}

async function get(socketPath: string, path: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  request({ socketPath, path }, (response) => void text(response).then(resolve, reject))
    .on('error', reject)
    .end();
  return promise;
}

async function listening(t: TestContext): Promise<Fixture> {
  const directory = await mkdtemp(join(tmpdir(), 'idunn-api-'));
  const engine = new FakeEngine();
  const events = new EventLog('life-1');
  engine.subscribe((event) => events.append(event));
  const server = apiServer(fakeParts(engine), events, pino({ level: 'silent' }));
  const socket = join(directory, 'operator.sock');
  await server.listen({ path: socket });
  t.after(async () => {
    await server.close();
    await rm(directory, { recursive: true });
  });
  return { engine, events, client: createClient(socket), socket };
}

const value = <T>(answer: Answer<T>): T => {
  assert.ok(answer.ok, answer.ok ? '' : answer.refusal.reason);
  return answer.value;
};

const code = (answer: Answer<unknown>): string => (answer.ok ? 'answered' : answer.refusal.code);

/**
 * Every field of the answer is documented: the schema strips what it does not know, so nothing may be missing after
 * it.
 */
const conforms = (schema: { parse(value: unknown): unknown }, answer: unknown): void => {
  assert.deepEqual(schema.parse(answer), answer);
};

test('every answer has the documented shape', async (t) => {
  const { client } = await listening(t);
  conforms(schemas.version, value(await client.version()));
  conforms(schemas.fleet, value(await client.fleet()));
  conforms(schemas.status, value(await client.status()));
  conforms(schemas.transactionAnswer, value(await client.transaction('tx-1')));
  conforms(schemas.history, value(await client.history({ limit: 10 })));
  conforms(schemas.logLines, value(await client.logs('ghostlight', {})));
  conforms(schemas.doctor, value(await client.doctor()));
  conforms(schemas.keys, value(await client.keys()));
  conforms(schemas.authorizations, value(await client.authorizations('ghostlight')));
  conforms(schemas.authorization, value(await client.authorize('ghostlight', {})));
  for (const id of ['ghostlight', 'tx-1', INCARNATION, authorization.digest])
    conforms(schemas.inspect, value(await client.inspect(id)));
  const receipt = await client.command({ kind: 'up', operationId: 'op-1', target: 'ghostlight', ref: null });
  conforms(schemas.operationReceipt, value(receipt));
});

test('an authorization is of a target that there is, and its refusal is the release room’s own', async (t) => {
  const { client } = await listening(t);
  assert.equal(value(await client.authorize('ghostlight', {})).actor, 'operator');
  assert.equal(code(await client.authorize('ghostlight', null)), 'envelope-malformed');
  assert.equal(code(await client.authorize('nobody', {})), 'target-unknown');
  assert.equal(code(await client.authorizations('nobody')), 'target-unknown');
  assert.equal(value(await client.inspect(authorization.digest)).kind, 'authorization');
});

test('status names what was never run beside what runs', async (t) => {
  const { client } = await listening(t);
  const { targets } = value(await client.status());
  assert.deepEqual(
    targets.map(({ target, health }) => [target, health]),
    [
      ['almanac', 'never-run'],
      ['ghostlight', 'healthy'],
    ],
  );
});

test('I12: a repeated operation id answers the first receipt and begins nothing', async (t) => {
  const { client, engine } = await listening(t);
  const request = { kind: 'up', operationId: 'op-1', target: 'ghostlight', ref: null } as const;
  assert.equal(value(await client.command(request)).repeated, false);
  assert.equal(value(await client.command(request)).repeated, true);
  assert.equal(engine.submitted.length, 1);
  assert.equal(engine.submitted[0]?.actor, 'operator');
});

test('F6: arguments are checked before anything durable', async (t) => {
  const { client, engine } = await listening(t);
  const up = { kind: 'up', operationId: 'op-1', ref: null } as const;
  assert.equal(code(await client.command({ ...up, target: '--help' })), 'request-invalid');
  assert.equal(code(await client.command({ ...up, target: 'ghost' })), 'target-unknown');
  assert.equal(code(await client.command({ ...up, target: 'ghostlight', surprise: 1 } as never)), 'request-invalid');
  assert.equal(engine.submitted.length, 0);
});

test('F28: a store that cannot take a command is the refusal, and not a fault of the daemon', async (t) => {
  const { client, engine } = await listening(t);
  engine.submit = () => Promise.reject(new StoreFault('store-full', 'No space is left.'));
  const answer = await client.command({ kind: 'up', operationId: 'op-1', target: 'ghostlight', ref: null });
  assert.equal(code(answer), 'store-full');
});

test('what is not known is refused by name', async (t) => {
  const { client } = await listening(t);
  assert.equal(code(await client.transaction('tx-9')), 'transaction-unknown');
  assert.equal(code(await client.inspect('nothing')), 'subject-unknown');
  assert.equal(code(await client.logs('almanac', {})), 'log-absent');
  assert.equal(code(await client.logs('ghost', {})), 'target-unknown');
  assert.equal(code(await client.logs('ghostlight', { lines: -1 })), 'request-invalid');
  assert.equal(code(await client.history({ limit: 0 })), 'request-invalid');
  assert.equal(code(await client.createKey('ghostlight')), 'key-exists');
});

test('F2: a log that is not there, or breaks, ends its reader; an activation is a word and no path', async (t) => {
  const { socket } = await listening(t);
  const logs = '/v1/targets/ghostlight/logs';
  for (const path of [logs, `${logs}/follow`]) {
    for (const activation of ['../observer', '/etc/passwd', '..', '']) {
      const answer = await get(socket, `${path}?activation=${encodeURIComponent(activation)}`);
      assert.match(answer, /"request-invalid"/, activation);
    }
    assert.match(await get(socket, `${path}?activation=act-9`), /"log-absent"/);
  }
  await assert.rejects(get(socket, `${logs}/follow?activation=act-broken`), { code: 'ECONNRESET' });
});

test('whatever cannot be understood is refused in the one shape that every refusal has', async (t) => {
  const { socket } = await listening(t);
  const paths = ['/v1/transactions/%zz', `/v1/transactions/${'a'.repeat(500)}`, '/v1/nothing'];
  const twice = ['history?subject=a&subject=b', 'events?transaction=a&transaction=b', 'history?limit=1&limit=2'];
  for (const path of [...paths, ...twice.map((one) => `/v1/${one}`)]) {
    const answer = JSON.parse(await get(socket, path)) as { schema: string; refusal: { code: string } };
    assert.equal(answer.schema, 'idunn.refusal/v1', path);
    assert.equal(answer.refusal.code, 'request-invalid', path);
  }
});

test('a log is followed line by line', async (t) => {
  const { client } = await listening(t);
  const lines: string[] = [];
  const { signal } = new AbortController();
  for await (const line of value(await client.followLogs('ghostlight', { signal }))) lines.push(line);
  assert.deepEqual(lines, ['one', 'two']);
});

test('a follower is told why it is refused, not that nobody answers', async (t) => {
  const { client } = await listening(t);
  const stop = new AbortController();
  for await (const followed of client.events({ transaction: 'tx-nobody', signal: stop.signal })) {
    assert.equal(followed.kind === 'lost' ? followed.refusal.code : followed.kind, 'transaction-unknown');
    stop.abort();
  }
});

test('a follower is told the snapshot, then what happens, and nothing of other transactions', async (t) => {
  const { client, engine } = await listening(t);
  const stop = new AbortController();
  const told: string[] = [];
  const at = { at: '2026-11-30T00:00:01.000Z', target: 'ghostlight' };
  for await (const followed of client.events({ transaction: 'tx-1', signal: stop.signal })) {
    if (followed.kind === 'snapshot') {
      told.push(`snapshot ${followed.transaction.phase}`);
      engine.emit({ ...at, transaction: 'tx-2', event: 'queued', ahead: 1 });
      engine.emit({ ...at, transaction: 'tx-1', event: 'phase', phase: 'warming', tookMs: 4, note: null });
    } else if (followed.kind === 'event') {
      told.push(`${followed.event.transaction} ${followed.event.event}`);
      stop.abort();
    }
  }
  assert.deepEqual(told, ['snapshot sealed', 'tx-1 phase']);
});

test('a reader that comes back with Last-Event-ID misses nothing; one from another life gets a snapshot', () => {
  const log = new EventLog('life-2');
  const seen: string[] = [];
  log.subscribe(({ id }) => seen.push(id));
  for (let n = 0; n < 3; n++) {
    log.append({ at: 'now', target: 't', transaction: 'x', event: 'queued', ahead: n });
  }
  assert.deepEqual(seen, ['life-2:1', 'life-2:2', 'life-2:3']);
  assert.deepEqual(
    log.since('life-2:1')?.map(({ id }) => id),
    ['life-2:2', 'life-2:3'],
  );
  assert.deepEqual(log.since('life-2:3'), []);
  assert.equal(log.since('life-1:2'), null);
  assert.equal(log.since('life-2:4'), null);
  assert.equal(log.since('nonsense'), null);
});

test('nobody on the socket is a refusal with the command that helps', async () => {
  const answer = await createClient('/nonexistent/operator.sock').status();
  assert.equal(code(answer), 'daemon-unreachable');
  assert.match(answer.ok ? '' : answer.refusal.remedy, /idunn daemon --detach/);
});
