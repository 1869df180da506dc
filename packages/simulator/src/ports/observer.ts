import type { ObserverPort } from '@idunn/authority';
import { absent, type Outcome, ok, refusal, refused, seen, unknown } from '@idunn/kernel';
import {
  decidePublication,
  type IncarnationKey,
  type IncarnationRecord,
  type ObserverRequest,
  type PublicationView,
} from '@idunn/readiness';
import { correlationOf, noteJudged, noteReady } from '../world/observer.ts';
import type { Projection, World } from '../world/world.ts';
import { denied } from './lies.ts';
import type { Life } from './life.ts';

const ACKNOWLEDGED = ok('acknowledged' as const);

/** What a request makes of a projection, as the observer judges it. */
function publish(world: World, key: IncarnationKey, request: ObserverRequest): Outcome<'acknowledged'> {
  const projection = world.projections.get(key);
  const view: PublicationView = {
    audience: { fleet: 'simulated', machine: 'local' },
    incarnations: world.projections.size,
    incarnation: () => (projection === undefined ? null : recordOf(projection)),
    anchor: () => null,
  };
  const decided = decidePublication(view, request);
  if (!decided.ok) return decided;
  const next = decided.value.kind === 'incarnation' ? decided.value.next : null;
  if (projection === undefined || next === null) return ACKNOWLEDGED;
  const { current, replaced, spent } = next;
  const { activation = null, observed = null } = current ?? {};
  Object.assign(projection, { activation, observed, replaced, spent } satisfies Partial<Projection>);
  return ACKNOWLEDGED;
}

const recordOf = ({ expected, activation, observed, replaced, spent }: Projection): IncarnationRecord => ({
  schema: 'idunn.observed-incarnation/v1',
  expected,
  current: activation === null || observed === null ? null : { activation, observed },
  replaced,
  spent,
});

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
          world.sealedAs.set(key, expected.runtime.executable);
          world.projections.set(key, {
            expected,
            activation: null,
            observed: null,
            replaced: [],
            spent: [],
            ready: null,
          });
        }
        return ACKNOWLEDGED;
      }),
    publishActivation: (activation, observed) =>
      told('publish-activation', () => {
        const taken = publish(world, activation.incarnation, { kind: 'publish-activation', activation, observed });
        if (!taken.ok) return taken;
        noteJudged(world, activation.incarnation);
        noteReady(world, activation.incarnation);
        world.time.after(1, () => world.listeners.correlated(activation.incarnation));
        return ACKNOWLEDGED;
      }),
    demote: (key, activation) =>
      told('demote', () => publish(world, key, { kind: 'demote', incarnation: key, activation })),
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
