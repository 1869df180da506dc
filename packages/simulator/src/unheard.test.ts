import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Command, EngineEvent, EnginePorts } from '@idunn/authority';
import { StoreFault } from '@idunn/kernel';
import { CALM } from './scenario.ts';
import { Simulation } from './simulation.ts';
import { refOf } from './world/sources.ts';

/** How long the store says nothing at all after it: less than any phase may take. */
const SILENT_MS = 400;

/** A store that writes its `at`th batch, says that it cannot tell, and cannot be asked for a while. */
function unheard(at: number) {
  let commits = 0;
  let silentUntilMs = 0;
  let happened = false;
  return {
    get happened() {
      return happened;
    },
    ports(ports: EnginePorts): EnginePorts {
      const { store, clock } = ports;
      const ask = <T>(question: () => Promise<T>): Promise<T> =>
        clock.monotonicMs() < silentUntilMs
          ? Promise.reject(new StoreFault('store-unreadable', 'the disk is away'))
          : question();
      return {
        ...ports,
        store: {
          ...store,
          get: (key) => ask(() => store.get(key)),
          list: (...asked) => ask(() => store.list(...asked)),
          commit: (batch) =>
            ask(async () => {
              commits += 1;
              const result = await store.commit(batch);
              if (commits !== at || result.kind !== 'committed') return result;
              happened = true;
              silentUntilMs = clock.monotonicMs() + SILENT_MS;
              return { kind: 'unknown', because: 'the answer was lost' };
            }),
        },
      };
    },
  };
}

const ADA = { actor: 'ada', tenant: 'local' } as const;

const outcomes = (told: readonly EngineEvent[]): readonly string[] =>
  told.flatMap((event) => (event.event === 'outcome' ? [event.transaction] : []));

test('F27, I12: whichever answer of the store is lost, what was taken is begun and its outcome told', async () => {
  let happened = true;
  let at = 1;
  for (; happened; at += 1) {
    const store = unheard(at);
    const shapes = { app: { stores: 1, routed: true } };
    const simulation = new Simulation(
      { ...CALM, seed: 11, shapes, deploys: [] },
      { ports: (ports) => store.ports(ports) },
    );
    simulation.begin();
    const transactions: string[] = [];
    // The second one ends in the very commit that has its outcome.
    for (const outcome of ['admitted', 'unchanged']) {
      const operationId = `up-${outcome}`;
      const command: Command = { kind: 'up', target: 'app', ref: refOf('good', 1), operationId, ...ADA };
      const taken = await simulation.ask((engine) => engine.submit(command).catch(() => null));
      await simulation.pass(60_000);
      const again = await simulation.ask((engine) => engine.submit(command));
      assert.ok(again.ok && again.value.repeated, `answer ${at}`);
      const { transaction } = again.value;
      if (taken?.ok) assert.equal(transaction, taken.value.transaction, `answer ${at}`);
      const view = await simulation.ask((engine) => engine.transaction(transaction));
      assert.equal(view?.result?.outcome, outcome, `answer ${at}`);
      transactions.push(transaction);
    }
    assert.deepEqual(outcomes(simulation.told), transactions, `answer ${at}`);
    ({ happened } = store);
  }
  assert.ok(at > 15, `only ${at} answers`);
});
