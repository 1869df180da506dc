import { addCrowd } from './lib/crowd.ts';
import { footprint } from './lib/memory.ts';
import { claim, type Proof } from './lib/proof.ts';
import { withFleet } from './lib/stage.ts';

const TARGETS = 100;
/** Commands under way at once; the queue of each target is its own. */
const AT_ONCE = 4;

export const proof: Proof = {
  name: 'footprint',
  promise: 'Daemon, router and observer stay small, with 1 target and with 100.',
  run: ({ quick, note }) =>
    withFleet(async (fleet) => {
      const targets = quick ? 20 : TARGETS;
      await fleet.daemon();
      const first = await fleet.up('ghostlight');
      const one = footprint(fleet);
      note(`with 1 target: ${JSON.stringify(one)} MiB`);
      const waiting = [...(await addCrowd(fleet, targets - 1))];
      let admitted = first.outcome.outcome === 'admitted' ? 1 : 0;
      const deploy = async (): Promise<void> => {
        for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
          const { outcome } = await fleet.up(name);
          if (outcome.outcome === 'admitted') admitted += 1;
          else note(`${name}: ${outcome.outcome} ${JSON.stringify(outcome.refusal)}`);
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, deploy));
      const many = footprint(fleet);
      note(`with ${targets} targets: ${JSON.stringify(many)} MiB`);
      const whole = Object.values(many).reduce((sum, each) => sum + each, 0);
      return {
        figures: { targets, admitted, rssMbWithOne: one, rssMb: many },
        claims: [
          claim(`all ${targets} targets were admitted`, admitted === targets),
          claim('the three programs together stay under 600 MiB', whole < 600),
        ],
      };
    }),
};
