import type { RouteMember, RouteObservation, RoutePort, RouteState, Staged } from '@idunn/authority';
import { absent, type Evidence, type Outcome, ok, refusal, refused, seen } from '@idunn/kernel';
import type { Clients } from '../world/clients.ts';
import { ELSEWHERE } from '../world/sources.ts';
import type { Route, StagedRoute, World } from '../world/world.ts';
import { denied } from './lies.ts';
import type { Life } from './life.ts';

const LISTEN = { host: '127.0.0.1', port: 8_000 };

/** The simulated proxy: staged snapshots, holds with a term, and what it was seen to serve. */
export function fakeRoute(world: World, life: Life, clients: ReadonlyMap<string, Clients>): RoutePort {
  const routeOf = (name: string): Route => {
    const known = world.routes.get(name);
    if (known !== undefined) return known;
    const made: Route = {
      members: [],
      served: null,
      generation: 0,
      holdUntilMs: 0,
      held: [],
      report: { held: 0, failed: 0, longestHoldMs: 0 },
    };
    world.routes.set(name, made);
    return made;
  };
  const letGo = (name: string): void => {
    const route = routeOf(name);
    route.holdUntilMs = 0;
    clients.get(name)?.released(route);
  };
  /** One stage stands at a time: a newer one takes its place. */
  const stage = (name: string, members: readonly RouteMember[]): Outcome<Staged> => {
    const id = `stage-${world.nextStage}`;
    world.nextStage += 1;
    const route = routeOf(name);
    world.staged.set(name, { stage: id, members });
    return ok({ stage: id, generation: route.generation + 1 });
  };
  const serve = (name: string, { stage, members }: StagedRoute): void => {
    const route = routeOf(name);
    route.served = stage;
    route.members = members;
    route.generation += 1;
    world.ledger.note({ kind: 'routed', activations: members.map(({ activation }) => activation) });
    letGo(name);
  };
  /** A proxy that lags serves what it accepted last, once it is as far as it was to be with the first. */
  const accept = (name: string, staged: StagedRoute): void => {
    if (world.proxyLagMs === 0) return serve(name, staged);
    const isLate = world.accepted.has(name);
    world.accepted.set(name, staged);
    if (isLate) return;
    world.time.after(world.proxyLagMs, () => {
      const newest = world.accepted.get(name) ?? staged;
      world.accepted.delete(name);
      serve(name, newest);
    });
  };
  const publish = (id: string): Outcome<'published'> => {
    if ([...world.routes.values()].some(({ served }) => served === id)) return ok('published');
    if ([...world.accepted.values()].some(({ stage }) => stage === id)) return ok('published');
    const [name, staged] = [...world.staged].find((entry) => entry[1].stage === id) ?? [];
    if (name === undefined || staged === undefined)
      return refused(refusal('route-stage-unknown', `There is no ${id}.`));
    world.staged.delete(name);
    accept(name, staged);
    return ok('published');
  };
  return {
    read: (name) =>
      life.look((): Evidence<RouteState> => {
        const route = world.routes.get(name);
        if (route === undefined) return absent;
        const { generation, members } = route;
        return seen({
          route: name,
          generation,
          listen: LISTEN,
          protocol: 'http',
          names: [],
          certificates: [],
          members,
        });
      }, garbled),
    stage: (_target, contract, members) =>
      life.effect('stage-route', (): Outcome<Staged> => stage(contract.name, members), {
        lies: { claimed: () => ok({ stage: 'no stage', generation: 0 }), denied },
        far: true,
      }),
    hold: (name, termMs) =>
      life.effect(
        'hold-route',
        (): Outcome<'held'> => {
          const route = routeOf(name);
          route.report = { held: 0, failed: 0, longestHoldMs: 0 };
          route.holdUntilMs = world.time.monotonicMs + termMs;
          return ok('held');
        },
        { lies: { claimed: () => ok('held'), denied }, far: true },
      ),
    release: (name) =>
      life.effect(
        'release-route',
        (): Outcome<'released'> => {
          letGo(name);
          return ok('released');
        },
        { lies: { claimed: () => ok('released'), denied }, far: true },
      ),
    publish: ({ stage }) =>
      life.effect('publish-route', (): Outcome<'published'> => publish(stage), {
        lies: { claimed: () => ok('published'), denied },
        far: true,
      }),
    observe: (name) =>
      life.effect(
        'observe-route',
        (): Evidence<RouteObservation> => {
          const member = routeOf(name).members[0];
          const process = world.processes.get(member?.activation ?? '');
          if (member === undefined || process?.alive !== true) return absent;
          const { incarnation } = member;
          return process.behaviour === 'redirects-for-ever'
            ? seen({ incarnation, status: 301, body: 'moved to /login' })
            : seen({ incarnation, status: 200, body: null });
        },
        { lies: { garbled: () => seen({ ...ELSEWHERE, status: 200, body: null }) } },
      ),
    open: (_name, incarnation) =>
      life.look(
        () => {
          const open = [...world.processes.values()]
            .filter(({ activation }) => activation.incarnation === incarnation)
            .reduce((sum, process) => sum + process.open, 0);
          return seen(open);
        },
        () => seen(7),
      ),
    remove: (name) =>
      life.effect('remove-route', () => {
        world.routes.delete(name);
        return ok('removed' as const);
      }),
    switchReport: (name) => life.read(() => seen({ ...routeOf(name).report })),
  };
}

/** It names another member than it serves. */
const garbled = (state: Evidence<RouteState>): Evidence<RouteState> =>
  state.kind === 'seen'
    ? seen({ ...state.value, members: [{ ...ELSEWHERE, backend: { host: '127.0.0.1', port: 1 } }] })
    : state;
