import { setTimeout as pause } from 'node:timers/promises';
import { cpuPercent } from './lib/idle.ts';
import { claim, type Proof, round } from './lib/proof.ts';
import { addSleepers } from './lib/sleepers.ts';
import { withFleet } from './lib/stage.ts';

/** After the last deployment: drains, first presences and clean-up are over. */
const CALM_MS = { quick: 2_000, whole: 30_000 };
/** Whole spans hold two presences of every target; they are told every 120 s. */
const SPAN_MS = { quick: 6_000, whole: 240_000 };
const MOST_PERCENT = 1;

export const proof: Proof = {
  name: 'idle',
  promise: 'Daemon, observer and router with 1,000 idle targets use less than 1 % of a core.',
  run: ({ quick, note }) =>
    withFleet(async (fleet) => {
      const span = quick ? 'quick' : 'whole';
      await fleet.daemon();
      const targets = await addSleepers(fleet, quick ? 100 : 1_000, note);
      await pause(CALM_MS[span]);
      const used = await cpuPercent(fleet, SPAN_MS[span]);
      note(JSON.stringify(used));
      const { daemon = Number.NaN, observer = Number.NaN, router = Number.NaN, attendant = Number.NaN } = used;
      const cpu = round(daemon + observer + router);
      return {
        figures: {
          targets: targets.length,
          spanMs: SPAN_MS[span],
          cpuPercent: cpu,
          each: used,
          attendantPercent: attendant,
        },
        claims: [
          claim('the programs ran and were measured', Number.isFinite(cpu) && Number.isFinite(attendant)),
          // So soon after the deployments nothing is idle yet: the aim is the whole proof's.
          ...(quick ? [] : [claim(`less than ${MOST_PERCENT} % of a core (${cpu} %)`, cpu < MOST_PERCENT)]),
        ],
      };
    }),
};
