import { parseArgs } from 'node:util';
import { run } from './run.ts';
import { scenarioOf } from './scenario.ts';

/** `npm run simulate -- --seeds N --from S`: runs the scenarios of N seeds and judges each. Exit 1 on a violation. */
const { values } = parseArgs({
  options: { seeds: { type: 'string', default: '1000' }, from: { type: 'string', default: '1' } },
});
const seeds = Number(values.seeds);
const from = Number(values.from);
if (!Number.isSafeInteger(seeds) || seeds < 1 || !Number.isSafeInteger(from) || from < 0) {
  console.error('usage: npm run simulate -- --seeds N --from S, with whole numbers');
  process.exit(2);
}

const begun = process.cpuUsage();
const outcomes = new Map<string, number>();
const failing: number[] = [];
let transactions = 0;
let crashes = 0;
let acked = 0;
for (let seed = from; seed < from + seeds; seed += 1) {
  const report = await run(scenarioOf(seed));
  transactions += report.results.length;
  crashes += report.crashes;
  acked += report.acked;
  for (const result of report.results) {
    const outcome = result?.outcome ?? 'open';
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  if (report.violations.length === 0) continue;
  failing.push(seed);
  const replay = `npm run simulate -- --seeds 1 --from ${seed}`;
  for (const { of, atMs, detail } of report.violations.slice(0, 5)) {
    console.error(`seed ${seed}: ${of} at ${atMs} ms: ${detail}; again with: ${replay}`);
  }
}
const { user, system } = process.cpuUsage(begun);
const cpuSeconds = (user + system) / 1_000_000;
console.log(
  JSON.stringify({
    proof: 'simulate',
    seeds,
    from,
    transactions,
    crashes,
    acked,
    outcomes: Object.fromEntries(outcomes),
    failing: failing.slice(0, 20),
    cpuSeconds: Math.round(cpuSeconds * 100) / 100,
    transactionsPerCpuSecond: Math.round(transactions / cpuSeconds),
  }),
);
process.exitCode = failing.length > 0 ? 1 : 0;
