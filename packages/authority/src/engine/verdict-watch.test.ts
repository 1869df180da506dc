import assert from 'node:assert/strict';
import { test } from 'node:test';
import { absent } from '@idunn/kernel';
import { FakeTime } from '@idunn/kernel/testing';
import type { LinkStanding } from '../ports/link-port.ts';
import { NOW, OLD, TARGET } from '../testing/samples.ts';
import type { TargetActor } from './actor.ts';
import type { EngineCore } from './core.ts';
import { VerdictWatch } from './verdict-watch.ts';

/** Everything that is admitted was admitted by an engine before this one, and the observer was never told of it. */
function bench(standing: LinkStanding) {
  const time = new FakeTime();
  let at = standing;
  const shown: string[] = [];
  const { admitted } = TARGET;
  const core = {
    ports: {
      clock: time.clock,
      timers: time,
      links: { observer: { standing: () => at } },
      observerFor: () => ({ read: () => absent }),
    },
    library: { planAtHand: () => OLD.plan },
    witness: { options: { observerTarget: null } },
    incidents: { report: (_: string, causes: ReadonlyMap<string, string>) => shown.push(...causes.keys()) },
    stopped: false,
    fault: (fault: unknown) => assert.fail(String(fault)),
  } as unknown as EngineCore;
  const actor = {
    target: 'app',
    atDoor: false,
    standing: { ...admitted, admittedAt: { ...NOW, bootId: 'boot-0' } },
  } as unknown as TargetActor;
  const watch = new VerdictWatch(core, () => [actor]);
  async function pass(ms: number): Promise<void> {
    for (let leftMs = ms; leftMs > 0; leftMs -= 1_000) {
      time.pass(Math.min(leftMs, 1_000));
      await new Promise(setImmediate);
    }
  }
  const say = (next: LinkStanding): void => {
    at = next;
  };
  return { watch, pass, say, shown };
}

test('I10: an engine that begins on a link that stands misses what nobody tells it of', async (t) => {
  const { watch, pass, shown } = bench({ kind: 'up' });
  t.after(() => watch.stop());
  watch.start();
  await pass(29_000);
  assert.deepEqual(shown, []);
  await pass(2_000);
  assert.deepEqual([...new Set(shown)], ['verdict-missing']);
});

test('I10: while the link was not seen to stand, nothing that it would tell of is missing', async (t) => {
  for (const standing of [{ kind: 'trying' }, { kind: 'down', because: 'refused' }] as const) {
    const { watch, pass, say, shown } = bench(standing);
    t.after(() => watch.stop());
    watch.start();
    await pass(60_000);
    assert.deepEqual([shown, await watch.standing()], [[], []], standing.kind);
    say({ kind: 'up' });
    watch.link('up');
    await pass(29_000);
    assert.deepEqual(shown, [], 'from then on it has its time');
    await pass(3_000);
    assert.ok(shown.length > 0);
  }
});

test('I10: a link that came up while the engine began, before anybody listened, is heeded', async (t) => {
  const { watch, pass, say, shown } = bench({ kind: 'trying' });
  t.after(() => watch.stop());
  say({ kind: 'up' });
  watch.start();
  await pass(32_000);
  assert.ok(shown.length > 0);
});
