import { claim, type Proof, spread } from './lib/proof.ts';
import { withFleet } from './lib/stage.ts';

/**
 * Deployments before the measured ones: a daemon that has just started compiles its own code first. They are shown
 * beside.
 */
const COLD = 4;

export const proof: Proof = {
  name: 'own-share',
  promise: "Idunn's own share of `up` is under 300 ms.",
  run: ({ quick, note }) =>
    withFleet(async (fleet) => {
      const deploys = quick ? 12 : 40;
      await fleet.daemon();
      await fleet.up('ghostlight');
      const cold: number[] = [];
      const own: number[] = [];
      const whole: number[] = [];
      const command: number[] = [];
      for (let deploy = 1; deploy <= COLD + deploys; deploy++) {
        await fleet.commit({ 'NOTES.md': `change ${deploy}\n` });
        const begun = performance.now();
        const { outcome } = await fleet.up('ghostlight');
        const commandTookMs = performance.now() - begun;
        if (outcome.outcome !== 'admitted') {
          note(`deploy ${deploy}: ${outcome.outcome} ${JSON.stringify(outcome.refusal)}`);
          continue;
        }
        if (deploy <= COLD) {
          cold.push(outcome.ownMs);
          continue;
        }
        own.push(outcome.ownMs);
        whole.push(outcome.durationMs);
        command.push(commandTookMs);
      }
      const ownMs = spread(own);
      return {
        figures: { deploys, ownMs, coldOwnMs: spread(cold), durationMs: spread(whole), commandMs: spread(command) },
        claims: [
          claim(`all ${deploys} deployments were admitted`, own.length === deploys),
          claim('the own share is measured, not nothing', ownMs.p50 > 1),
          claim('the median of the own share is under 300 ms', ownMs.p50 < 300),
        ],
      };
    }),
};
