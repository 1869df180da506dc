import { Worker } from 'node:worker_threads';
import { run } from './run.ts';
import { scenarioOf } from './scenario.ts';
import { NOTHING, type Tally, tallyOf, together } from './tally.ts';

/** Seeds after which a worker tells what came of them. */
const BATCH = 16;
/** Violations of one seed that are told. */
const TOLD_LIMIT = 5;
/** Nearly all that a run makes is dropped with it: a worker collects it seldom. */
const YOUNG_GENERATION_MB = 192;
/** Where in the shared memory the next seed stands, and whether it is the last. */
const [TAKEN, STOPPED] = [0, 1];

export interface Range {
  readonly from: number;
  readonly seeds: number;
}

export interface Failing {
  readonly seed: number;
  readonly told: readonly string[];
}

/** What a worker is given: it takes one seed after the other until all are taken. */
export interface Share extends Range {
  readonly shared: SharedArrayBuffer;
}

/** What a worker tells. */
export type Told = { readonly tally: Tally } | { readonly failing: Failing };

/**
 * Runs the scenarios of a range of seeds in workers. `done` resolves when all were run, or when `stop` was called and
 * each worker has ended the seed that it had; it rejects when a worker does not live.
 */
export function runSeeds(
  range: Range,
  workers: number,
  onTold: (told: Told) => void,
): { readonly done: Promise<void>; readonly stop: () => void } {
  const shared = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);
  const share: Share = { ...range, shared };
  const each = Array.from({ length: Math.min(workers, range.seeds) }, () => {
    const worker = new Worker(new URL('./worker.ts', import.meta.url), {
      workerData: share,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    });
    worker.on('message', onTold);
    return new Promise<void>((resolve, reject) => {
      worker.once('error', reject);
      worker.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`a worker ended with ${code}`))));
    });
  });
  return {
    done: Promise.all(each).then(() => undefined),
    stop: () => void Atomics.store(new Int32Array(shared), STOPPED, 1),
  };
}

/** The part of one worker. */
export async function work({ from, seeds, shared }: Share, tell: (told: Told) => void): Promise<void> {
  const memory = new Int32Array(shared);
  let tally = NOTHING;
  while (Atomics.load(memory, STOPPED) === 0) {
    const index = Atomics.add(memory, TAKEN, 1);
    if (index >= seeds) break;
    const { told, of } = await judged(from + index);
    tally = together(tally, of);
    if (told.length > 0) tell({ failing: { seed: from + index, told } });
    if (tally.seeds < BATCH) continue;
    tell({ tally });
    tally = NOTHING;
  }
  tell({ tally });
}

/** A simulation that throws is one that fails: every seed has its judgement. */
async function judged(seed: number): Promise<{ readonly told: readonly string[]; readonly of: Tally }> {
  try {
    const report = await run(scenarioOf(seed));
    const told = report.violations.slice(0, TOLD_LIMIT).map(({ of, atMs, detail }) => `${of} at ${atMs} ms: ${detail}`);
    return { told, of: tallyOf(report) };
  } catch (fault) {
    return {
      told: [fault instanceof Error ? (fault.stack ?? fault.message) : String(fault)],
      of: { ...NOTHING, seeds: 1 },
    };
  }
}
