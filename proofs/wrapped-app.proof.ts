import type { Fleet } from '../tests/e2e/lib/fleet.ts';
import { json } from '../tests/e2e/lib/world.ts';
import { Load } from './lib/load.ts';
import { claim, type Proof, type ProofRun, spread } from './lib/proof.ts';
import { portOf, withFleet } from './lib/stage.ts';
import { APPS, addWrapped, judgeEntries, startByHand, type WrappedApp } from './lib/wrapped.ts';

const CLIENTS = 20;
const REST_MS = 50;

export const proof: Proof = {
  name: 'wrapped-app',
  promise: 'A program that knows nothing of Idunn is deployed under load, whole, in its own start’s time.',
  run: (options) =>
    withFleet(async (fleet) => {
      await fleet.daemon();
      const told: Awaited<ReturnType<typeof deployAll>>[] = [];
      for (const [index, app] of APPS.entries()) told.push(await deployAll(fleet, app, index, options));
      const sum = (of: (one: (typeof told)[number]) => number): number => told.reduce((all, one) => all + of(one), 0);
      return {
        figures: {
          deploys: sum(({ deploys }) => deploys),
          admitted: sum(({ admitted }) => admitted),
          requests: sum(({ requests }) => requests),
          acked: sum(({ acked }) => acked),
          failed: sum(({ failed }) => failed),
          lost: sum(({ lost }) => lost),
          doubled: sum(({ doubled }) => doubled),
          refused: sum(({ refused }) => Number(refused)),
          incumbentServed: told.every(({ untouched }) => untouched),
          ...Object.fromEntries(
            told.flatMap(({ target, held, started }) => [
              [`${target}HeldMs`, held],
              [`${target}StartMs`, started],
            ]),
          ),
        },
        claims: told.flatMap((one) => [
          claim(`${one.target}: all ${one.deploys} deployments were admitted`, one.admitted === one.deploys),
          claim(`${one.target}: enough was written to show it`, one.acked >= one.deploys * 20),
          claim(`${one.target}: no request failed on its first try`, one.failed === 0),
          claim(`${one.target}: no acknowledged write was lost`, one.lost === 0),
          claim(`${one.target}: no write was doubled`, one.doubled === 0),
          claim(`${one.target}: a build that cannot start was rehearsed and refused`, one.refused),
          claim(`${one.target}: its incumbent was never touched`, one.untouched),
        ]),
      };
    }),
};

async function deployAll(fleet: Fleet, app: WrappedApp, index: number, { quick, note }: ProofRun) {
  const { target } = app;
  const deploys = quick ? 3 : 20;
  const port = portOf(fleet) + 20 + index;
  const url = `http://127.0.0.1:${port}`;
  const { database } = await addWrapped(fleet, app, port);
  const first = await fleet.up(target);
  note(`${target}: first deployment ${first.outcome.outcome} ${JSON.stringify(first.outcome.refusal)}`);
  const starts: number[] = [];
  for (let round = 0; round < (quick ? 3 : 10); round++) starts.push(await startByHand(fleet, app, port + 10));
  const paths = { post: '/entries', read: '/version' };
  const load = new Load({ port, clients: CLIENTS, restMs: REST_MS, name: target, paths });
  const holds: number[] = [];
  let admitted = 0;
  for (let deploy = 1; deploy <= deploys; deploy++) {
    await fleet.commit({ [`${target}/${app.file}`]: app.text(deploy + 1) });
    const { outcome } = await fleet.up(target);
    if (outcome.outcome === 'admitted') admitted += 1;
    else note(`${target} ${deploy}: ${outcome.outcome} ${JSON.stringify(outcome.refusal)}`);
    holds.push(outcome.requests.longestHoldMs);
  }
  const before = await json<{ version: string; pid: number }>(url, '/version');
  await fleet.commit({ [`${target}/${app.file}`]: app.text(deploys + 2, app.fails) });
  const { outcome: failing } = await fleet.up(target);
  const after = await json<{ version: string; pid: number }>(url, '/version');
  const report = await load.stop();
  for (const failure of report.failures.slice(0, 5)) note(`failed: ${failure}`);
  const [held, started] = [spread(holds), spread(starts)];
  note(
    `${target}: ${admitted} of ${deploys} admitted, held ${held.p50} ms where its own start takes ${started.p50} ms`,
  );
  return {
    target,
    deploys,
    admitted,
    requests: report.requests,
    acked: report.acked.length,
    failed: report.failures.length,
    ...judgeEntries(database, report.acked),
    refused: failing.outcome === 'aborted' && failing.refusal?.code === 'rehearsal-failed',
    untouched: before.pid === after.pid && before.version === String(deploys + 1) && after.version === before.version,
    held,
    started,
  };
}
