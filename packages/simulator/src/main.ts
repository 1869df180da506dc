import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { EXPLORATIONS } from './explore/all.ts';
import { explore } from './explore/graph.ts';
import { type Failing, type Range, runSeeds } from './run-seeds.ts';
import { cellOf, printed, STRIKES } from './table.ts';
import { NOTHING, type Tally, together, total } from './tally.ts';
import { TEETH } from './teeth/all.ts';
import { bite } from './teeth/bite.ts';

/**
 * `npm run simulate -- --seeds N --from S [--workers W] [--table] [--explore]`: runs the scenarios of N seeds and
 * judges each; with `--table` also every fault in every phase of every transaction kind, with `--explore` every state
 * of the small worlds in `explore/all.ts`. Failing seeds are told as they come, and every while how far it is; SIGINT
 * ends it with what it has. Exit 1 on a violation, an empty cell or a state that was left.
 * `npm run simulate -- --teeth` runs the broken variants instead, and tells who caught each; exit 1 if one survived.
 */
const WORKERS_LIMIT = 64;
const SEEDS_LIMIT = 2 ** 30;
/** Failing seeds that the last line names; each was told. */
const NAMED_LIMIT = 100;
const PROGRESS_EVERY_S = 10;

await main();

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string', default: '1000' },
      from: { type: 'string', default: '1' },
      workers: { type: 'string', default: '1' },
      table: { type: 'boolean', default: false },
      explore: { type: 'boolean', default: false },
      teeth: { type: 'boolean', default: false },
    },
  });
  const [seeds, from, workers] = [Number(values.seeds), Number(values.from), Number(values.workers)];
  const whole = [seeds, from, workers].every(Number.isSafeInteger);
  if (!whole || seeds < 1 || seeds > SEEDS_LIMIT || from < 0 || workers < 1 || workers > WORKERS_LIMIT) {
    console.error(
      'usage: npm run simulate -- --seeds N --from S [--workers W] [--table] [--explore], with whole numbers; or --teeth',
    );
    process.exit(2);
  }
  const commit = commitHere();
  if (values.teeth) return bites(commit);
  const { tally, failing, isStopped, cpuSeconds } = await allSeeds({ from, seeds }, workers, commit);
  const isTableWhole = !values.table || (await table());
  const isExplored = !values.explore || (await everyWay());
  const transactions = total(tally.transactions);
  console.log(
    JSON.stringify({
      proof: 'simulate',
      commit,
      from,
      stopped: isStopped,
      ...tally,
      transactions,
      kinds: tally.transactions,
      failing: failing.named,
      failed: failing.count,
      cpuSeconds: Math.round(cpuSeconds * 100) / 100,
      transactionsPerCpuSecond: Math.round(transactions / cpuSeconds),
    }),
  );
  process.exitCode = failing.count > 0 || !isTableWhole || !isExplored ? 1 : 0;
}

interface Ran {
  readonly tally: Tally;
  readonly failing: { readonly count: number; readonly named: readonly number[] };
  readonly isStopped: boolean;
  readonly cpuSeconds: number;
}

async function allSeeds(range: Range, workers: number, commit: string): Promise<Ran> {
  const begun = process.cpuUsage();
  let tally = NOTHING;
  let isStopped = false;
  let toldAtS = process.uptime();
  const failing = { count: 0, named: [] as number[] };
  const spent = (): number => {
    const { user, system } = process.cpuUsage(begun);
    return (user + system) / 1_000_000;
  };
  const running = runSeeds(range, workers, (told) => {
    if ('failing' in told) {
      failing.count += 1;
      if (failing.named.length < NAMED_LIMIT) failing.named.push(told.failing.seed);
      return tell(told.failing, commit);
    }
    tally = together(tally, told.tally);
    if (process.uptime() - toldAtS < PROGRESS_EVERY_S) return;
    toldAtS = process.uptime();
    const perSecond = Math.round(total(tally.transactions) / spent());
    console.error(
      `${tally.seeds} of ${range.seeds} seeds, ${perSecond} transactions per CPU second, ${failing.count} failing`,
    );
  });
  const stop = (): void => {
    isStopped = true;
    running.stop();
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    await running.done;
  } catch (fault) {
    console.error(`a worker is gone, and the seed that it had is not judged: ${String(fault)}`);
    failing.count += 1;
    running.stop();
  }
  return { tally, failing, isStopped, cpuSeconds: spent() };
}

function tell({ seed, told }: Failing, commit: string): void {
  for (const violation of told) {
    const replay = `npm run simulate -- --seeds 1 --from ${seed}`;
    console.error(`seed ${seed} at commit ${commit}: ${violation}; again with: ${replay}`);
  }
}

async function table(): Promise<boolean> {
  const cells = [];
  for (const strike of STRIKES) cells.push(await cellOf(strike));
  console.log(printed(cells));
  return cells.every((cell) => (cell.reached ? cell.violations.length === 0 : cell.because !== null));
}

/** Every small world, one after another; what was found is told with how it came about. */
async function everyWay(): Promise<boolean> {
  let isWell = true;
  for (const small of EXPLORATIONS) {
    const { findings, ...told } = await explore(small);
    console.log(JSON.stringify({ ...told, findings: findings.length }));
    for (const { of, detail, course } of findings) console.error(`${of}: ${detail}\n  ${course.join('\n  ')}`);
    isWell &&= told.whole && findings.length === 0;
  }
  return isWell;
}

/** Every broken variant, and who caught it. */
async function bites(commit: string): Promise<void> {
  const bitten = [];
  for (const tooth of TEETH) {
    const one = await bite(tooth);
    bitten.push(one);
    const { name, invariant, caughtBy, scenario, survived } = one;
    const how = survived ? 'SURVIVED' : 'caught';
    console.log(`${how} ${invariant.padEnd(5)} ${name}: seen by ${caughtBy.join(' ') || 'nobody'}; ${scenario}`);
  }
  const survived = bitten.filter((one) => one.survived).length;
  console.log(JSON.stringify({ proof: 'simulate', commit, teeth: bitten.length, survived }));
  process.exitCode = survived > 0 ? 1 : 0;
}

/** The commit that a seed replays on, for people. */
function commitHere(): string {
  const asked = spawnSync('git', ['rev-parse', '--short=12', 'HEAD'], { encoding: 'utf8' });
  return asked.status === 0 ? asked.stdout.trim() : 'unknown';
}
