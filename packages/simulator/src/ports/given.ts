import type { EnginePorts } from '@idunn/authority';
import type { World } from '../world/world.ts';

/** The same ports; what programs and the proxy are given becomes a part of the ledger (I11). */
export function withGiven(world: World, ports: EnginePorts): EnginePorts {
  const { workload, route } = ports;
  return {
    ...ports,
    workload: {
      ...workload,
      start: (request) => {
        const { target, launch, state } = request;
        world.ledger.note({ kind: 'given', target, launch, state, route: null });
        return workload.start(request);
      },
    },
    route: {
      ...route,
      stage: (target, contract, members) => {
        world.ledger.note({ kind: 'given', target, launch: null, state: null, route: contract });
        return route.stage(target, contract, members);
      },
    },
  };
}
