import { journal } from '../tests/e2e/lib/world.ts';
import { restartByHand } from './lib/by-hand.ts';
import { type JournalEvent, judge } from './lib/judge.ts';
import { Load } from './lib/load.ts';
import { claim, type Proof, round, spread } from './lib/proof.ts';
import { portOf, withFleet } from './lib/stage.ts';

const CLIENTS = 200;
/** Rest of each client between two requests: 200 clients then ask some 2,000 times a second. */
const REST_MS = 100;

export const proof: Proof = {
  name: 'deploy-under-load',
  promise: 'Deploying under load fails no request and loses, doubles or misplaces no acknowledged write.',
  run: ({ quick, note }) =>
    withFleet(async (fleet) => {
      const deploys = quick ? 6 : 50;
      await fleet.daemon();
      const first = await fleet.up('ghostlight');
      note(`first deployment: ${first.outcome.outcome} in ${round(first.outcome.durationMs ?? 0)} ms`);
      const load = new Load({ port: portOf(fleet), clients: CLIENTS, restMs: REST_MS, name: 'light' });
      const gaps: number[] = [];
      const holds: number[] = [];
      const own: number[] = [];
      let admitted = 0;
      let failedByRouter = 0;
      for (let deploy = 1; deploy <= deploys; deploy++) {
        await fleet.commit({ 'NOTES.md': `change ${deploy}\n` });
        const { outcome } = await fleet.up('ghostlight');
        if (outcome.outcome === 'admitted') admitted += 1;
        else note(`deploy ${deploy}: ${outcome.outcome} ${JSON.stringify(outcome.refusal)}`);
        if (outcome.writeGapMs !== null) gaps.push(outcome.writeGapMs);
        holds.push(outcome.requests.longestHoldMs);
        own.push(outcome.ownMs);
        failedByRouter += outcome.requests.failed;
        if (deploy % 10 === 0 || quick) note(`${deploy} of ${deploys} deployed, ${load.acked} writes acknowledged`);
      }
      const report = await load.stop();
      const byHand = await restartByHand(fleet, { clients: CLIENTS, restMs: REST_MS, restarts: quick ? 3 : 20 });
      const verdict = judge((await journal(fleet.url)) as JournalEvent[], report.acked);
      const held = spread(holds);
      for (const failure of report.failures.slice(0, 5)) note(`failed: ${failure}`);
      return {
        figures: {
          deploys,
          admitted,
          requests: report.requests,
          acked: report.acked.length,
          failed: report.failures.length,
          lost: verdict.lost,
          doubled: verdict.doubled,
          epochs: verdict.epochs,
          writeGapMs: spread(gaps),
          heldMs: held,
          ownMs: spread(own),
          latencyMs: spread(report.latenciesMs),
          byHand: { restarts: byHand.gapsMs.length, failed: byHand.failed },
          byHandGapMs: spread(byHand.gapsMs),
          gapRatio: round(spread(byHand.gapsMs).p50 / Math.max(spread(gaps).p50, 0.01)),
        },
        claims: [
          claim(`all ${deploys} deployments were admitted`, admitted === deploys),
          claim('enough was written to show it', report.acked.length >= deploys * 200),
          claim('no request failed on its first try', report.failures.length === 0 && failedByRouter === 0),
          claim('no acknowledged write was lost', verdict.lost === 0),
          claim('no write was doubled', verdict.doubled === 0),
          claim('the hash chain is intact', verdict.chainIntact),
          claim('epochs only rise: nothing was written by an old epoch after its fence', verdict.epochsRise),
          claim('each deployment wrote under an epoch of its own', verdict.epochs === deploys + 1),
          claim('a write gap was measured for each deployment', gaps.length === deploys),
          claim('no request was held longer than 250 ms', held.max <= 250),
        ],
      };
    }),
};
