import type { RouteMember, RoutePort, RouteState, Staged } from '@idunn/authority';
import { absent, type Evidence, type Outcome, ok, refusal, refused, seen } from '@idunn/kernel';
import type { Clients } from '../world/clients.ts';
import type { Route, World } from '../world/world.ts';
import type { Life } from './life.ts';

const LISTEN = { host: '127.0.0.1', port: 8_000 };

/** The simulated proxy: staged snapshots, holds with a term, and what it was seen to serve. */
export function fakeRoute(world: World, life: Life, clients: ReadonlyMap<string, Clients>): RoutePort {
  const routeOf = (name: string): Route => {
    const known = world.routes.get(name);
    if (known !== undefined) return known;
    const made: Route = {
      members: [],
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
  return {
    read: (name) =>
      life.read((): Evidence<RouteState> => {
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
      }),
    stage: (_target, contract, members) =>
      life.effect('stage-route', (): Outcome<Staged> => {
        const stage = `stage-${world.nextStage}`;
        world.nextStage += 1;
        world.staged.set(stage, { route: contract.name, members });
        return ok({ stage, generation: routeOf(contract.name).generation + 1 });
      }),
    hold: (name, termMs) =>
      life.effect('hold-route', () => {
        const route = routeOf(name);
        route.report = { held: 0, failed: 0, longestHoldMs: 0 };
        route.holdUntilMs = world.time.nowMs + termMs;
        return ok('held' as const);
      }),
    release: (name) =>
      life.effect('release-route', () => {
        letGo(name);
        return ok('released' as const);
      }),
    publish: ({ stage }) =>
      life.effect('publish-route', (): Outcome<'published'> => {
        const staged = world.staged.get(stage);
        if (staged === undefined) return refused(refusal('driver-fault', `There is no ${stage}.`));
        const route = routeOf(staged.route);
        route.members = staged.members;
        route.generation += 1;
        world.ledger.note({
          kind: 'routed',
          activations: staged.members.map(({ activation }: RouteMember) => activation),
        });
        letGo(staged.route);
        return ok('published');
      }),
    observe: (name) =>
      life.effect('observe-route', () => {
        const member = routeOf(name).members[0];
        const process = world.processes.get(member?.activation ?? '');
        if (member === undefined || process?.alive !== true) return absent;
        const { incarnation } = member;
        return process.behaviour === 'redirects-for-ever'
          ? seen({ incarnation, status: 301, body: 'moved to /login' })
          : seen({ incarnation, status: 200, body: null });
      }),
    open: (_name, incarnation) =>
      life.read(() => {
        const open = [...world.processes.values()]
          .filter(({ activation }) => activation.incarnation === incarnation)
          .reduce((sum, process) => sum + process.open, 0);
        return seen(open);
      }),
    remove: (name) =>
      life.effect('remove-route', () => {
        world.routes.delete(name);
        return ok('removed' as const);
      }),
    switchReport: (name) => life.read(() => seen({ ...routeOf(name).report })),
  };
}
