import type { ObserverPort } from '@idunn/authority';
import { absent, type Outcome, ok, refusal, refused, seen, unknown } from '@idunn/kernel';
import { correlationOf, noteReady } from '../world/observer.ts';
import type { World } from '../world/world.ts';
import type { Life } from './life.ts';

/** The link to the simulated observer. */
export function fakeObserver(world: World, life: Life): ObserverPort {
  const told = (name: string, work: () => void): Promise<Outcome<'acknowledged'>> =>
    life.effect(name, () => {
      if (!world.observerUp) return refused(refusal('observer-unreachable', 'The simulated observer is down.'));
      work();
      return ok('acknowledged');
    });
  return {
    publishExpected: (key, expected) =>
      told('publish-expected', () => {
        if (!world.projections.has(key)) {
          world.ledger.note({ kind: 'expected', incarnation: key });
          world.projections.set(key, { expected, activation: null, observed: null, ready: null });
        }
      }),
    publishActivation: (activation, observed) =>
      told('publish-activation', () => {
        const projection = world.projections.get(activation.incarnation);
        if (projection === undefined) throw new Error(`nothing is expected under ${activation.incarnation}`);
        projection.activation = activation;
        projection.observed = observed;
        noteReady(world, activation.incarnation);
        world.time.after(1, () => world.listeners.correlated(activation.incarnation));
      }),
    demote: (key, activation) =>
      told('demote', () => {
        const projection = world.projections.get(key);
        if (projection?.activation?.activation !== activation) return;
        projection.activation = null;
        projection.observed = null;
      }),
    withdraw: (key) => told('withdraw-expected', () => void world.projections.delete(key)),
    read: (key) => {
      if (!world.observerUp) return unknown('the link is down');
      const correlation = correlationOf(world, key);
      return correlation === null ? absent : seen(correlation);
    },
    subscribe: (listener) => {
      world.listeners.correlated = (key) =>
        life.deliver(() => {
          const correlation = correlationOf(world, key);
          if (correlation !== null && world.observerUp) listener({ kind: 'correlation', correlation });
        });
      world.listeners.link = (state) => life.deliver(() => listener({ kind: 'link', state }));
    },
  };
}
