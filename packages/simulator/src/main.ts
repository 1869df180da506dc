import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { explore } from './explore.ts';
import { cellOf, printed, STRIKES } from './table.ts';
import { type Tally, tally, together } from './tally.ts';

/**
 * `npm run simulate -- --seeds N --from S [--workers W] [--table] [--explore]`: runs the scenarios of N seeds and
 * judges each; with `--table` also every fault in every phase of every transaction kind, with `--explore` every way in
 * which one deployment meets one death, one freeze and one crash. Exit 1 on a violation or an empty cell.
 */
const WORKERS_LIMIT = 64;

if (isMainThread) await main();
else parentPort?.postMessage(await tally(workerData as Parameters<typeof tally>[0]));

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string', default: '1000' },
      from: { type: 'string', default: '1' },
      workers: { type: 'string', default: '1' },
      table: { type: 'boolean', default: false },
      explore: { type: 'boolean', default: false },
    },
  });
  const [seeds, from, workers] = [Number(values.seeds), Number(values.from), Number(values.workers)];
  const whole = [seeds, from, workers].every(Number.isSafeInteger);
  if (!whole || seeds < 1 || from < 0 || workers < 1 || workers > WORKERS_LIMIT) {
    console.error(
      'usage: npm run simulate -- --seeds N --from S [--workers W] [--table] [--explore], with whole numbers',
    );
    process.exit(2);
  }
  const begun = process.cpuUsage();
  const told = await all({ from, seeds, workers });
  const { user, system } = process.cpuUsage(begun);
  const cpuSeconds = (user + system) / 1_000_000;
  const commit = commitHere();
  for (const { seed, told: violations } of told.failing) {
    const replay = `npm run simulate -- --seeds 1 --from ${seed}`;
    for (const violation of violations) {
      console.error(`seed ${seed} at commit ${commit}: ${violation}; again with: ${replay}`);
    }
  }
  const isTableWhole = !values.table || (await table());
  const isExplored = !values.explore || (await everyWay());
  console.log(
    JSON.stringify({
      proof: 'simulate',
      commit,
      seeds,
      from,
      ...told,
      failing: told.failing.slice(0, 20).map(({ seed }) => seed),
      cpuSeconds: Math.round(cpuSeconds * 100) / 100,
      transactionsPerCpuSecond: Math.round(told.transactions / cpuSeconds),
    }),
  );
  process.exitCode = told.failing.length > 0 || !isTableWhole || !isExplored ? 1 : 0;
}

async function all({ from, seeds, workers }: { from: number; seeds: number; workers: number }): Promise<Tally> {
  if (workers === 1) return tally({ from, seeds });
  const each = Array.from({ length: Math.min(workers, seeds) }, (_, index) => {
    const share = { from: from + index, seeds: seeds - index, stride: workers };
    return new Promise<Tally>((resolve, reject) => {
      const worker = new Worker(new URL(import.meta.url), { workerData: share });
      worker.once('message', resolve).once('error', reject);
    });
  });
  return together(await Promise.all(each));
}

async function table(): Promise<boolean> {
  const cells = [];
  for (const strike of STRIKES) cells.push(await cellOf(strike));
  console.log(printed(cells));
  return cells.every((cell) => (cell.reached ? cell.violations.length === 0 : cell.because !== null));
}

async function everyWay(): Promise<boolean> {
  const { runs, courses, phases, outcomes, failing } = await explore();
  console.log(JSON.stringify({ runs, courses, phases: [...phases], outcomes: [...outcomes], failing: failing.length }));
  for (const { scenario, violations } of failing.slice(0, 5)) console.error(JSON.stringify({ scenario, violations }));
  return failing.length === 0;
}

/** The commit that a seed replays on, for people. */
function commitHere(): string {
  const asked = spawnSync('git', ['rev-parse', '--short=12', 'HEAD'], { encoding: 'utf8' });
  return asked.status === 0 ? asked.stdout.trim() : 'unknown';
}
