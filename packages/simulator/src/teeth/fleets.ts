import type { EnginePorts } from '@idunn/authority';
import { GATED, type Scenario, twoDeploys } from '../scenario.ts';
import type { Tooth } from './tooth.ts';

/** Claims a state over whatever lies beside it by then. */
const overAnyClaim = (ports: EnginePorts): EnginePorts => ({
  ...ports,
  lease: {
    ...ports.lease,
    writeClaim: async (state, claim) => {
      const there = await ports.lease.readClaim(state);
      return ports.lease.writeClaim(state, claim, there.kind === 'seen' ? there.value : null);
    },
  },
});

/** Another fleet claims the new state between the reading of ours and its writing. */
const met: Scenario = {
  ...twoDeploys('good', GATED),
  rival: { target: 'app', attended: false, deploys: [{ atMs: 41, behaviour: 'good' }] },
};

/** Broken variants that two fleets over one state meet. */
export const TEETH_OF_FLEETS: readonly Tooth[] = [
  { name: 'claims what another fleet has claimed', breaks: 'I1', scenario: met, ports: overAnyClaim },
];
