import type { EnginePorts } from '@idunn/authority';
import type { RecordStore } from '@idunn/kernel';
import type { Scenario } from '../scenario.ts';
import type { Clients } from '../world/clients.ts';
import { OUR_FLEET, refOf } from '../world/sources.ts';
import type { World } from '../world/world.ts';
import { fakeChannel } from './channel.ts';
import { fakeFreeze } from './freeze.ts';
import { withGiven } from './given.ts';
import { fakeLease } from './lease.ts';
import type { Life } from './life.ts';
import { fakeObserver } from './observer.ts';
import { fakeRelease } from './release.ts';
import { fakeRoute } from './route.ts';
import { withUnreadable } from './unreadable.ts';
import { fakeWorkload } from './workload.ts';

/** Everything that one life of the engine reaches of the simulated world. */
export function fakePorts(
  world: World,
  life: Life,
  {
    shapes,
    clients,
    store,
    ids,
  }: {
    readonly shapes: Scenario['shapes'];
    readonly clients: ReadonlyMap<string, Clients>;
    readonly store: RecordStore;
    readonly ids: EnginePorts['ids'];
  },
): EnginePorts {
  const observer = fakeObserver(world, life);
  return withGiven(
    world,
    withUnreadable(world, {
      clock: world.time.clock,
      timers: { after: (delayMs, fire) => world.time.after(delayMs, () => life.deliver(fire)) },
      ids,
      store,
      release: fakeRelease(world, life, {
        shapeOf: (target) => shapes[target] ?? { stores: 0, routed: false },
        schemaOf: (ref) => (ref.includes('!') ? 'events-v2' : 'events-v1'),
        headOf: () => refOf('good', 1),
      }),
      workload: fakeWorkload(world, life, (target) => shapes[target]?.fleet ?? OUR_FLEET),
      channel: fakeChannel(world, life),
      lease: fakeLease(world, life),
      route: fakeRoute(world, life, clients),
      freeze: fakeFreeze(world, life),
      observerFor: () => observer,
    }),
  );
}
