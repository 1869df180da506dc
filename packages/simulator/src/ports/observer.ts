import type { ObserverPort } from '@idunn/authority';
import { absent, type Outcome, ok, refusal, refused, seen, unknown } from '@idunn/kernel';
import { correlationOf, noteReady } from '../world/observer.ts';
import type { World } from '../world/world.ts';
import { denied } from './lies.ts';
import type { Life } from './life.ts';

const ACKNOWLEDGED = ok('acknowledged' as const);

/** The link to the simulated observer. */
export function fakeObserver(world: World, life: Life): ObserverPort {
  const told = (name: string, work: () => Outcome<'acknowledged'>): Promise<Outcome<'acknowledged'>> =>
    life.effect(
      name,
      (): Outcome<'acknowledged'> => {
        if (!world.observerUp) return refused(refusal('observer-unreachable', 'The simulated observer is down.'));
        return work();
      },
      { lies: { claimed: () => ACKNOWLEDGED, denied }, far: true },
    );
  return {
    publishExpected: (key, expected) =>
      told('publish-expected', () => {
        if (!world.projections.has(key)) {
          world.ledger.note({ kind: 'expected', incarnation: key });
          world.projections.set(key, { expected, activation: null, observed: null, ready: null });
        }
        return ACKNOWLEDGED;
      }),
    publishActivation: (activation, observed) =>
      told('publish-activation', () => {
        const projection = world.projections.get(activation.incarnation);
        if (projection === undefined)
          return refused(refusal('expected-unknown', `Nothing is expected under ${activation.incarnation}.`));
        projection.activation = activation;
        projection.observed = observed;
        noteReady(world, activation.incarnation);
        world.time.after(1, () => world.listeners.correlated(activation.incarnation));
        return ACKNOWLEDGED;
      }),
    demote: (key, activation) =>
      told('demote', () => {
        const projection = world.projections.get(key);
        if (projection?.activation?.activation !== activation) return ACKNOWLEDGED;
        projection.activation = null;
        projection.observed = null;
        return ACKNOWLEDGED;
      }),
    withdraw: (key) =>
      told('withdraw-expected', () => {
        world.projections.delete(key);
        return ACKNOWLEDGED;
      }),
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
