import type { EnginePorts } from '@idunn/authority';
import { type Evidence, unknown } from '@idunn/kernel';
import type { StateContract } from '@idunn/release';
import type { Unreadable, World } from '../world/world.ts';

const targetOf = ({ root }: StateContract): string => root.slice('/state/'.length);

/** The same ports in a world in which some things cannot be looked at for a while. */
export function withUnreadable(world: World, ports: EnginePorts): EnginePorts {
  const { workload, lease, route } = ports;
  const unless = async <T>(what: Unreadable, target: string, read: () => Promise<Evidence<T>>): Promise<Evidence<T>> =>
    world.unreadable.has(`${what} ${target}`) ? unknown('permission denied') : read();
  return {
    ...ports,
    workload: {
      ...workload,
      find: (target, id) => unless('process', target, () => workload.find(target, id)),
      running: (target) => unless('process', target, () => workload.running(target)),
      observe: (handle, release) => unless('process', handle.target, () => workload.observe(handle, release)),
    },
    lease: {
      ...lease,
      read: (state) => unless('lease', targetOf(state), () => lease.read(state)),
      readClaim: (state) => unless('lease', targetOf(state), () => lease.readClaim(state)),
    },
    route: { ...route, read: (name) => unless('route', name, () => route.read(name)) },
  };
}
