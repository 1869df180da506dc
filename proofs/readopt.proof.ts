import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Status } from '@idunn/client';
import { fleetProcesses } from '../scripts/lib/end-fleet.mjs';
import type { Fleet } from '../tests/e2e/lib/fleet.ts';
import { claim, type Proof, spread } from './lib/proof.ts';
import { addSleepers } from './lib/sleepers.ts';
import { withFleet } from './lib/stage.ts';

const MOST_MS = 1_000;
const KILLS = { quick: 2, whole: 5 };
const GIVE_UP_MS = 30_000;
const LOOK_MS = 20;

export const proof: Proof = {
  name: 'readopt',
  promise: 'A daemon that was killed takes up 1,000 running targets within a second, and none of them notices.',
  run: ({ quick, note }) =>
    withFleet(async (fleet) => {
      const kills = KILLS[quick ? 'quick' : 'whole'];
      await fleet.daemon();
      const alone = await restarts(fleet, kills);
      note(`before there are targets: ${JSON.stringify(alone)}`);
      const targets = await addSleepers(fleet, quick ? 100 : 1_000, note);
      const before = await processesOf(fleet, targets);
      const many = await restarts(fleet, kills);
      const after = await processesOf(fleet, targets);
      note(`with ${targets.length} targets: ${JSON.stringify(many)}`);
      const [victim = ''] = targets;
      const restoredMs = await killAndAwait(fleet, victim);
      const readopt = spread(many.map(({ takenUpMs }) => takenUpMs));
      return {
        figures: {
          targets: targets.length,
          kills,
          readoptMs: readopt,
          startMs: spread(many.map(({ startMs }) => startMs)),
          aloneReadoptMs: spread(alone.map(({ takenUpMs }) => takenUpMs)),
          aloneStartMs: spread(alone.map(({ startMs }) => startMs)),
          restoredMs,
        },
        claims: [
          claim('every target ran before', before.size === targets.length),
          claim('every target runs on as the very process it was', same(before, after)),
          claim('each is really watched: one that dies afterwards is brought back', restoredMs !== null),
          // The machine of a quick run does other things as well: the aim is the whole proof's.
          ...(quick ? [] : [claim(`all of them within ${MOST_MS} ms`, readopt.max < MOST_MS)]),
        ],
      };
    }),
};

interface Restart {
  /** From its first moment to its first answer, without the next. */
  readonly startMs: number;
  /** What the daemon took to find, observe and watch all that runs. */
  readonly takenUpMs: number;
}

/** Kills the daemon so often and starts it again. */
async function restarts(fleet: Fleet, kills: number): Promise<readonly Restart[]> {
  const told: Restart[] = [];
  for (let kill = 0; kill < kills; kill += 1) {
    for (const { what, pid } of fleetProcesses({ fleet: fleet.directory, runtime: fleet.runtime })) {
      if (what === 'daemon') process.kill(pid, 'SIGKILL');
    }
    const begun = performance.now();
    await fleet.daemon();
    const wholeMs = performance.now() - begun;
    const takenUpMs = await lastTakenUp(fleet);
    told.push({ startMs: wholeMs - takenUpMs, takenUpMs });
  }
  return told;
}

/** What the daemon wrote of its newest start. */
async function lastTakenUp(fleet: Fleet): Promise<number> {
  const lines = (await readFile(join(fleet.work, 'logs/daemon.log'), 'utf8')).split('\n');
  const line = lines.findLast((one) => one.includes('"took up what runs"'));
  if (line === undefined) throw new Error('the daemon has not said what it took up');
  return (JSON.parse(line) as { tookMs: number }).tookMs;
}

async function processesOf(fleet: Fleet, targets: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const answer = await fleet.client.status();
  if (!answer.ok) throw new Error(answer.refusal.reason);
  const wanted = new Set(targets);
  const processes = answer.value.targets.flatMap(({ target, admitted }) =>
    wanted.has(target) && admitted?.processes[0] !== undefined ? [[target, admitted.processes[0].pid] as const] : [],
  );
  return new Map(processes.filter(([, pid]) => runs(pid)));
}

function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const same = (one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): boolean =>
  one.size === other.size && [...one].every(([target, pid]) => other.get(target) === pid);

/** How long after its death another process is admitted; `null` when that does not come. */
async function killAndAwait(fleet: Fleet, target: string): Promise<number | null> {
  const pidOf = (status: Status): number | undefined =>
    status.targets.find((one) => one.target === target)?.admitted?.processes[0]?.pid;
  const answer = await fleet.client.status();
  const old = answer.ok ? pidOf(answer.value) : undefined;
  if (old === undefined) return null;
  process.kill(old, 'SIGKILL');
  const begun = performance.now();
  while (performance.now() - begun < GIVE_UP_MS) {
    const now = await fleet.client.status();
    const pid = now.ok ? pidOf(now.value) : undefined;
    if (pid !== undefined && pid !== old) return performance.now() - begun;
    await pause(LOOK_MS);
  }
  return null;
}
