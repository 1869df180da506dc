import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Correlation, ObserverEvent } from '@idunn/authority';
import { absent, type Outcome, ok, type RecordStore, type RecordValue, seen } from '@idunn/kernel';
import { FakeTime } from '@idunn/kernel/testing';
import type { IncarnationKey } from '@idunn/readiness';
import { audience, type SampleWorkload, sampleWorkload } from '@idunn/readiness/testing';
import { type BootstrapCorrelator, createBootstrapCorrelator } from './bootstrap-correlator.ts';
import { chooseObserver } from './choose-observer.ts';
import type { ObserverLink } from './observer-link.ts';

const odin = sampleWorkload({ target: 'observer', stateful: false, freshnessMs: 5_000 });
const upgrade = sampleWorkload({ target: 'observer', stateful: false, freshnessMs: 5_000, revision: 'r2' });

function memory(records = new Map<string, RecordValue>()): RecordStore {
  return {
    get: async () => null,
    list: async (space, kind) =>
      [...records].map(([id, value]) => ({ key: { space, kind, id }, generation: 1, value })),
    commit: async ({ mutations }) => {
      for (const { key, next } of mutations) {
        if (next === null) records.delete(key.id);
        else records.set(key.id, next);
      }
      return { kind: 'committed', stateVersion: 1, generations: [1] };
    },
    history: async () => [],
    stateVersion: async () => 1,
    close: async () => undefined,
  };
}

const correlator = (time: FakeTime, store: RecordStore): Promise<BootstrapCorrelator> =>
  createBootstrapCorrelator({
    target: 'observer',
    audience,
    anchors: [odin.anchor],
    store,
    clock: time.clock,
    timers: time,
  });

async function publish(port: Pick<BootstrapCorrelator, 'publishExpected' | 'publishActivation'>, one: SampleWorkload) {
  assert.ok((await port.publishExpected(one.key, one.expected)).ok);
  assert.ok((await port.publishActivation(one.activation, one.observed)).ok);
}

const receiptIn = (port: Pick<BootstrapCorrelator, 'read'>, key: IncarnationKey): string | null => {
  const word = port.read(key);
  return word.kind === 'seen' ? (word.value.ready?.receipt ?? null) : null;
};

test('I4: the daemon correlates the first observer by the same rules, under a receipt of another name', async () => {
  const time = new FakeTime();
  const bootstrap = await correlator(time, memory());
  const told: Correlation[] = [];
  bootstrap.subscribe((event) => event.kind === 'correlation' && told.push(event.correlation));
  assert.deepEqual(bootstrap.read(odin.key), absent);
  await publish(bootstrap, odin);
  bootstrap.hear(odin.says(1, { state: 'warming' }));
  assert.equal(receiptIn(bootstrap, odin.key), null);
  bootstrap.hear(odin.says(2));
  assert.match(receiptIn(bootstrap, odin.key) ?? '', /^bootstrap:sha256:/);
  bootstrap.hear(odin.says(3, { pid: 1 }));
  assert.equal(receiptIn(bootstrap, odin.key), null);
  assert.deepEqual(
    told.map(({ present, ready, disagreements }) => [present?.state, ready !== null, disagreements.length]),
    [
      [undefined, false, 0],
      [undefined, false, 0],
      ['warming', false, 0],
      ['active', true, 0],
      ['active', false, 1],
    ],
  );
});

test('I5: the bootstrap refuses replays, strangers’ targets, and goes stale by itself', async () => {
  const time = new FakeTime();
  const bootstrap = await correlator(time, memory());
  await publish(bootstrap, odin);
  bootstrap.hear(sampleWorkload({ target: 'ghostlight' }).says(1));
  bootstrap.hear(odin.says(2));
  const receipt = receiptIn(bootstrap, odin.key);
  bootstrap.hear(odin.says(2, { state: 'failed' }));
  assert.equal(receiptIn(bootstrap, odin.key), receipt);
  const events: ObserverEvent[] = [];
  bootstrap.subscribe((event) => events.push(event));
  time.pass(4_000);
  bootstrap.hear(odin.says(3));
  time.pass(4_000);
  assert.equal(receiptIn(bootstrap, odin.key), receipt);
  assert.equal(events.length, 0);
  time.pass(1_002);
  assert.equal(receiptIn(bootstrap, odin.key), null);
  assert.equal(events.length, 1);
  bootstrap.close();
});

test('I6: what was published to the bootstrap outlives the daemon; readiness has to be said anew', async () => {
  const time = new FakeTime();
  const records = new Map<string, RecordValue>();
  const before = await correlator(time, memory(records));
  await publish(before, odin);
  before.hear(odin.says(1));
  const after = await correlator(time, memory(records));
  const word = after.read(odin.key);
  assert.ok(word.kind === 'seen' && word.value.activation === odin.activation.activation && word.value.ready === null);
  after.hear(odin.says(2));
  assert.notEqual(receiptIn(after, odin.key), null);
  assert.ok((await after.demote(odin.key, odin.activation.activation)).ok);
  assert.ok(!(await after.publishActivation(odin.activation, odin.observed)).ok);
});

/** A link that is up or down at the test's word, and keeps what it was told. */
function pretendedLink() {
  const asked: string[] = [];
  const words = new Map<IncarnationKey, Correlation>();
  const listeners: ((event: ObserverEvent) => void)[] = [];
  let peer: ReturnType<ObserverLink['peer']> = null;
  const ask = async (what: string): Promise<Outcome<'acknowledged'>> => {
    asked.push(what);
    return ok('acknowledged');
  };
  const link: ObserverLink = {
    publishExpected: () => ask('publish-expected'),
    publishActivation: () => ask('publish-activation'),
    demote: () => ask('demote'),
    withdraw: () => ask('withdraw'),
    read: (key) => {
      const word = words.get(key);
      return word === undefined ? absent : seen(word);
    },
    subscribe: (listener) => void listeners.push(listener),
    peer: () => peer,
    standing: () => ({ kind: peer === null ? 'trying' : 'up' }),
    onStanding: () => undefined,
    hurry: () => undefined,
    close: () => undefined,
  };
  return {
    link,
    asked,
    say: (correlation: Correlation) => {
      words.set(correlation.incarnation, correlation);
      for (const listener of listeners) listener({ kind: 'correlation', correlation });
    },
    up: (of: SampleWorkload) => {
      peer = { incarnation: of.key, activation: of.activation.activation };
      for (const listener of listeners) listener({ kind: 'link', state: 'up' });
    },
  };
}

const wordOn = (one: SampleWorkload, receipt: string | null): Correlation => ({
  incarnation: one.key,
  activation: one.activation.activation,
  present: { state: 'active', epoch: null, sequence: 1, observedAtMs: 1, fresh: true },
  ready:
    receipt === null
      ? null
      : { receipt, activation: one.activation.activation, epoch: null, sequence: 1, observedAtMs: 1 },
  disagreements: [],
});

test('the observer is never asked about itself; its upgrade is correlated by it while it is linked', async () => {
  const time = new FakeTime();
  const bootstrap = await correlator(time, memory());
  const { link, asked, say, up } = pretendedLink();
  const observerFor = chooseObserver({ observerTarget: 'observer', link, bootstrap });
  assert.equal(observerFor('ghostlight'), link);
  const own = observerFor('observer');
  assert.equal(observerFor('observer'), own);
  const events: ObserverEvent[] = [];
  own.subscribe((event) => events.push(event));

  await publish(own, odin);
  assert.deepEqual(asked, []);
  bootstrap.hear(odin.says(1));
  assert.match(receiptIn(own, odin.key) ?? '', /^bootstrap:/);

  up(odin);
  say(wordOn(odin, 'sha256:its-own-praise'));
  assert.match(receiptIn(own, odin.key) ?? '', /^bootstrap:/);

  await publish(own, upgrade);
  assert.deepEqual(asked, ['publish-expected', 'publish-activation']);
  bootstrap.hear(upgrade.says(1));
  say(wordOn(upgrade, null));
  assert.equal(receiptIn(own, upgrade.key), null, 'the incumbent has not found it ready');
  say(wordOn(upgrade, 'sha256:incumbent'));
  assert.equal(receiptIn(own, upgrade.key), 'sha256:incumbent');

  up(upgrade);
  assert.match(receiptIn(own, upgrade.key) ?? '', /^bootstrap:/);
  assert.ok(events.some((event) => event.kind === 'link'));
  say(wordOn(sampleWorkload({ target: 'ghostlight' }), null));
  assert.ok(events.every((event) => event.kind === 'link' || event.correlation.incarnation.startsWith('observer@')));
});
