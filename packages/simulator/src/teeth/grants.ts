import type { EnginePorts } from '@idunn/authority';
import { ok } from '@idunn/kernel';
import type { Plan } from '@idunn/release';
import { twoDeploys } from '../scenario.ts';
import { refOf } from '../world/sources.ts';
import type { Tooth } from './tooth.ts';

/** I11: compiles into the plan what the recipe asks for, and does not look for it in the binding. */
const granting =
  (wish: (plan: Plan) => Plan) =>
  (ports: EnginePorts): EnginePorts => {
    const { release } = ports;
    return {
      ...ports,
      release: {
        ...release,
        plan: async (request, signal) => {
          const planned = await release.plan(request, signal);
          if (planned.ok) return planned;
          const without = await release.plan({ ...request, ref: refOf('good', 9) }, signal);
          return without.ok ? ok({ ...without.value, plan: wish(without.value.plan) }) : without;
        },
      },
    };
  };

const withLaunch = (plan: Plan, more: Partial<Plan['launch']>): Plan => ({
  ...plan,
  launch: { ...plan.launch, ...more },
});

/** What a repository asks for reaches its programs. */
export const TEETH_OF_GRANTS: readonly Tooth[] = [
  {
    name: 'hands out the secret that a recipe names',
    breaks: 'I11',
    scenario: twoDeploys('asks-for-a-secret'),
    ports: granting((plan) => withLaunch(plan, { secrets: [{ name: 'host-key', file: '/etc/host-key' }] })),
  },
  {
    name: 'sets the variable that a recipe names',
    breaks: 'I11',
    scenario: twoDeploys('asks-for-a-variable'),
    ports: granting((plan) => withLaunch(plan, { environment: { LD_PRELOAD: { literal: 'lib.so' } } })),
  },
  {
    name: 'keeps a store where the recipe says',
    breaks: 'I11',
    scenario: twoDeploys('asks-for-a-path'),
    ports: granting((plan) => {
      const { state } = plan;
      if (state === null) return plan;
      return { ...plan, state: { ...state, stores: state.stores.map((one) => ({ ...one, path: '../other/0.db' })) } };
    }),
  },
];
