import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import type { ChannelEvent, WorkloadHandle } from '@idunn/authority';
import { publicKeyOf, randomIds } from '@idunn/kernel';
import type { StateContract } from '@idunn/release';
import { Bench, must } from '../process/testing/bench.ts';
import { createSqliteLease } from '../sqlite-lease/driver.ts';
import { createChannelDriver } from './driver.ts';

const SDK = new URL('../../../workload/src/index.ts', import.meta.url).href;

/** A program that embeds the SDK and writes as fast as its timer lets it. */
const PROGRAM = `import { Idunn, NotWriter } from ${JSON.stringify(SDK)};
  const idunn = await Idunn.connect({ stateSchema: 'v1' });
  const store = idunn.store('db');
  const write = () => {
    try {
      store.write((database) => database.exec('INSERT INTO events (pid) VALUES (' + process.pid + ')'));
    } catch (error) {
      if (!(error instanceof NotWriter)) throw error;
    }
  };
  idunn.onGrant(() => {
    const table = 'CREATE TABLE IF NOT EXISTS events (seq INTEGER PRIMARY KEY, pid INTEGER)';
    store.write((database) => database.exec(table));
    setInterval(write, 1);
  });
  idunn.warm();`;

class Stage {
  readonly bench: Bench;
  readonly state: StateContract;
  readonly lease = createSqliteLease();
  readonly channel;
  readonly events: ChannelEvent[] = [];

  constructor(t: TestContext) {
    this.bench = new Bench(t);
    writeFileSync(this.bench.file('embedding.mjs'), PROGRAM);
    const root = `${this.bench.root}/game-state`;
    mkdirSync(root);
    this.state = {
      stateId: 'game',
      schema: 'v1',
      accepts: ['v1'],
      root,
      stores: [{ id: 'db', kind: 'sqlite', path: 'game.db' }],
      lease: 'rows',
      fence: 'epoch-raised',
    };
    const { driver, options, signerKey } = this.bench;
    this.channel = createChannelDriver({
      audience: { fleet: options.fleet, machine: options.machine },
      authorityKey: options.authorityKey,
      socketPath: (activation) => driver.socketPath(activation),
      activation: (activation) => driver.activation(activation),
      anchors: () => [{ publicKey: publicKeyOf(signerKey.privateKey) }],
      endOthers: (handle) => driver.endOthers(handle),
      clock: options.clock,
      timers: options.timers,
      ids: randomIds,
      openWithinMs: 20_000,
      answerWithinMs: 20_000,
    });
    this.channel.subscribe((event) => this.events.push(event));
    t.after(async () => {
      this.channel.closeAll();
      await this.lease.close();
    });
  }

  /** Starts the program, opens its channel and waits for its first word. */
  async warm(): Promise<WorkloadHandle> {
    const handle = await this.bench.start(this.bench.launch('embedding'), this.state);
    must(await this.channel.open(handle));
    await this.when((event) => isOf(handle, event) && event.kind === 'presence' && event.presence.state === 'warming');
    return handle;
  }

  async grant(handle: WorkloadHandle, epoch: number): Promise<void> {
    must(await this.channel.grant(handle.activation, { activation: handle.activation, stateId: 'game', epoch }));
    await this.when((event) => isOf(handle, event) && event.kind === 'presence' && event.presence.epoch === epoch);
    await this.when((event) => isOf(handle, event) && event.kind === 'first-write' && event.epoch === epoch);
  }

  swap(from: { epoch: number; activation: string | null }, to: WorkloadHandle) {
    const next = { epoch: from.epoch + 1, activation: to.activation, release: null, stateSchema: 'v1' };
    return this.lease.swap(this.state, { from, to: next, deadlineMs: 20_000 });
  }

  when(fits: (event: ChannelEvent) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (this.events.some(fits)) resolve();
      };
      this.channel.subscribe(look);
      look();
    });
  }

  writers(): readonly number[] {
    const database = new DatabaseSync(`${this.state.root}/game.db`, { timeout: 5_000 });
    const rows = database.prepare('SELECT pid FROM events ORDER BY seq').all();
    database.close();
    return rows.map((row) => Number(row['pid']));
  }
}

const isOf = (handle: WorkloadHandle, event: ChannelEvent): boolean => event.activation === handle.activation;

test('I1: two real programs hand the lease over, and one after the other writes', async (t) => {
  const stage = new Stage(t);
  assert.ok((await stage.lease.prepare(stage.state)).ok);
  const incumbent = await stage.warm();
  assert.equal((await stage.swap({ epoch: 0, activation: null }, incumbent)).kind, 'swapped');
  await stage.grant(incumbent, 1);

  const candidate = await stage.warm();
  await stage.lease.writeNonce(stage.state, 'n1');
  for (const { activation } of [incumbent, candidate]) {
    assert.deepEqual(await stage.channel.echo(activation, 'n1', 20_000), { kind: 'seen', value: { db: 'n1' } });
  }
  const request = { requestId: 'rq-1', epoch: 1, termMs: 5_000 };
  const relinquished = await stage.channel.relinquish(incumbent.activation, request, 20_000);
  assert.ok(relinquished.kind === 'relinquished' && relinquished.lastWriteAtMs !== null);
  const from = { epoch: 1, activation: incumbent.activation };
  assert.equal((await stage.swap(from, candidate)).kind, 'swapped');
  await stage.grant(candidate, 2);
  assert.deepEqual(await stage.lease.sync(stage.state), { ok: true, value: 'durable' });

  // Its first write only makes the table, which is there already; the next one leaves a row.
  const next = candidate.identity.pid;
  while (!stage.writers().includes(next)) await new Promise((resolve) => setImmediate(resolve));
  const writers = stage.writers();
  const turn = writers.indexOf(next);
  assert.ok(turn > 0);
  assert.ok(writers.slice(turn).every((pid) => pid === next));
  assert.deepEqual(await stage.bench.driver.stop(incumbent, 20_000), {
    kind: 'gone',
    proof: 'tree-empty',
    forced: false,
  });
  await stage.when((event) => isOf(incumbent, event) && event.kind === 'closed');
});

test('a handover that is withdrawn leaves the incumbent writing', async (t) => {
  const stage = new Stage(t);
  assert.ok((await stage.lease.prepare(stage.state)).ok);
  const incumbent = await stage.warm();
  await stage.swap({ epoch: 0, activation: null }, incumbent);
  await stage.grant(incumbent, 1);
  const request = { requestId: 'rq-1', epoch: 1, termMs: 60_000 };
  assert.equal((await stage.channel.relinquish(incumbent.activation, request, 20_000)).kind, 'relinquished');
  const before = stage.writers().length;
  assert.equal(stage.writers().length, before);
  await stage.channel.withdraw(incumbent.activation, 'rq-1');
  while (stage.writers().length === before) await new Promise((resolve) => setImmediate(resolve));
});
