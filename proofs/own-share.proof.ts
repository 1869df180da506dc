import { claim, type Proof, spread } from './lib/proof.ts';
import { withFleet } from './lib/stage.ts';

export const proof: Proof = {
  name: 'own-share',
  promise: "Idunn's own share of `up` is under 300 ms.",
  run: ({ quick, note }) =>
    withFleet(async (fleet) => {
      const deploys = quick ? 8 : 40;
      await fleet.daemon();
      await fleet.up('ghostlight');
      const own: number[] = [];
      const whole: number[] = [];
      const command: number[] = [];
      for (let deploy = 1; deploy <= deploys; deploy++) {
        await fleet.commit({ 'NOTES.md': `change ${deploy}\n` });
        const begun = performance.now();
        const { outcome } = await fleet.up('ghostlight');
        command.push(performance.now() - begun);
        if (outcome.outcome !== 'admitted') {
          note(`deploy ${deploy}: ${outcome.outcome} ${JSON.stringify(outcome.refusal)}`);
          continue;
        }
        own.push(outcome.ownMs);
        whole.push(outcome.durationMs);
      }
      const ownMs = spread(own);
      return {
        figures: { deploys, ownMs, durationMs: spread(whole), commandMs: spread(command) },
        claims: [
          claim(`all ${deploys} deployments were admitted`, own.length === deploys),
          claim('the own share is measured, not nothing', ownMs.p50 > 1),
          claim('the median of the own share is under 300 ms', ownMs.p50 < 300),
        ],
      };
    }),
};
