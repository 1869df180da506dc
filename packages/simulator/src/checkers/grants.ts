import { posix } from 'node:path';
import type { Plan } from '@idunn/release';
import { ONLY_PORT } from '../world/life.ts';
import type { TargetShape } from '../world/sources.ts';
import type { Judged, Violation } from './judged.ts';

/**
 * I11: whatever a repository asks for, its programs and its route are given what the binding of their target grants,
 * and nothing else: no other directory, port, secret, variable, program of the machine or listener.
 */
export const grants = ({ world, shapes, scenario }: Judged): readonly Violation[] =>
  world.ledger.of('given').flatMap(({ atMs, target, launch, state, route }): Violation[] => {
    // Another fleet binds a route of its own.
    const names = scenario.rival === undefined ? [target] : [target, `elsewhere-${target}`];
    const shape = shapes[target] ?? { stores: 0, routed: false };
    const beyond = [
      ...beyondLaunch(launch, shape),
      ...beyondState(state, target, shape),
      ...beyondRoute(route, names, shape),
    ];
    return beyond.map((what) => ({ of: 'I11', atMs, detail: `${target} was given ${what}, which nobody bound` }));
  });

function beyondLaunch(launch: Plan['launch'] | null, { routed, alone }: TargetShape): readonly string[] {
  if (launch === null) return [];
  const { program, secrets, environment, args, endpoint, identity } = launch;
  const ports = alone === true ? { fromPort: ONLY_PORT, toPort: ONLY_PORT } : { fromPort: 20_000, toPort: 29_999 };
  const isOwnPort =
    endpoint === null ||
    (routed && endpoint.host === '127.0.0.1' && endpoint.fromPort >= ports.fromPort && endpoint.toPort <= ports.toPort);
  return [
    ...(program.kind === 'artifact' ? [] : ['a program of the machine']),
    ...secrets.map(({ name, file }) => `the secret ${name} of ${file}`),
    ...Object.keys(environment).map((name) => `the variable ${name}`),
    ...args.flatMap((arg) => ('slot' in arg && arg.slot.startsWith('operator:') ? [`the value of ${arg.slot}`] : [])),
    ...(isOwnPort ? [] : [`the ports ${endpoint?.fromPort} to ${endpoint?.toPort}`]),
    ...(identity === undefined ? [] : [`the user ${identity.users[0].name}`]),
  ];
}

function beyondState(state: Plan['state'], target: string, { stores }: TargetShape): readonly string[] {
  if (state === null) return [];
  if (stores === 0) return [`the state ${state.root}`];
  const root = `/state/${target}`;
  const paths = [state.root, ...state.stores.map(({ path }) => posix.join(state.root, path))];
  return paths.filter((path) => path !== root && !path.startsWith(`${root}/`)).map((path) => `the path ${path}`);
}

function beyondRoute(route: Plan['route'], own: readonly string[], { routed }: TargetShape): readonly string[] {
  if (route === null) return [];
  const { name, listen, names, tls } = route;
  const isOwn = routed && own.includes(name) && listen.host === '127.0.0.1' && listen.port === 8_000;
  return [
    ...(isOwn ? [] : [`the route ${name} at ${listen.host}:${listen.port}`]),
    ...names.map((host) => `the host name ${host}`),
    ...(tls === null ? [] : ['a certificate']),
  ];
}
