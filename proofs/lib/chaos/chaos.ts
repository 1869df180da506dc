import { cp, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { journal } from '../../../tests/e2e/lib/world.ts';
import { type JournalEvent, judge } from '../judge.ts';
import { Load, type LoadReport } from '../load.ts';
import { type Claim, claim, type Figures, round } from '../proof.ts';
import { withScope } from '../stage.ts';
import { Deeds } from './deeds.ts';
import { Orders } from './orders.ts';
import { leftovers } from './processes.ts';
import { GARBAGE } from './programs.ts';
import { scheduleOf } from './schedule.ts';
import { settle } from './settle.ts';
import { admitAll, makeStage, type Stage } from './stage.ts';
import { Supervisor } from './supervisor.ts';
import { judgeNotes, readNotes } from './verdict.ts';

const CLIENTS = { ghostlight: 6, notes: 3 };
const REST_MS = 25;

export interface Chaos {
  readonly seed: number;
  readonly minutes: number;
  readonly note: (text: string) => void;
}

/**
 * Hits a fleet of real processes as the seed's schedule says, under load, lets it come to rest, and judges what is
 * there from the programs' own databases and from the process table, never from Idunn's records alone.
 */
export function chaos({ seed, minutes, note }: Chaos): Promise<{ figures: Figures; claims: readonly Claim[] }> {
  const schedule = scheduleOf(seed, minutes * 60_000);
  note(`seed ${seed}: ${schedule.length} deeds in ${minutes} minutes`);
  return withScope(async (scope) => {
    const stage = await makeStage(scope);
    await admitAll(stage);
    const supervisor = new Supervisor(stage.fleet);
    const orders = new Orders(stage.fleet);
    const deeds = new Deeds(stage, orders, supervisor);
    const writers = load(stage);
    const begun = performance.now();
    for (const deed of schedule) {
      await pause(Math.max(0, begun + deed.atMs - performance.now()));
      const { atMs, kind, ...words } = deed;
      note(`${(atMs / 1_000).toFixed(1)}: ${kind} ${Object.values(words).join(' ')}`);
      deeds.begin(deed);
    }
    await deeds.finish();
    note('nothing is done to it any more; it comes to rest');
    const settled = await settle(stage, deeds, orders);
    note(`at rest after ${round(settled.tookMs / 1_000)} s`);
    const [ghostlight, notes] = await writers.stop();
    const events = (await journal(stage.fleet.url)) as JournalEvent[];
    await supervisor.stop();
    await stage.fleet.end();
    const left = leftovers(stage.fleet);
    const world = judge(events, ghostlight.acked);
    const kept = judgeNotes(readNotes(stage.notesDatabase), notes.acked);
    const acked = ghostlight.acked.length + notes.acked.length;
    const lost = world.lost + kept.lost;
    const doubled = world.doubled + kept.doubled;
    const strays = [...ghostlight.strays, ...notes.strays];
    for (const stray of strays.slice(0, 5)) note(`somebody else answered ${stray}`);
    const garbage = kept.garbage + events.filter(({ id }) => id.startsWith(GARBAGE)).length;
    const claims = [
      ...tooLittle(minutes, deeds, acked),
      claim(`every acknowledged write is there (ghostlight lost ${world.lost}, notes lost ${kept.lost})`, lost === 0),
      claim(`whoever was asked answers, and nobody else (${strays.length} strays)`, strays.length === 0),
      claim(`every write is there once (doubled ${doubled})`, doubled === 0),
      claim('the hash chain of ghostlight is whole', world.chainIntact),
      claim('epochs only rise along the journal', world.epochsRise),
      claim(`no process of notes wrote after its successor had (${kept.late})`, kept.late === 0),
      claim(`nothing that a spoilt build wrote is kept (${garbage})`, garbage === 0),
      claim(`no spoilt build was admitted: ${settled.spoilt.join()}`, settled.spoilt.length === 0),
      claim(`each order has one outcome: ${settled.open.join('; ')}`, settled.open.length === 0),
      claim(`a repeated order is never a second one: ${orders.twofold.join()}`, orders.twofold.length === 0),
      claim(
        `every target takes a deployment and is healthy: ${settled.unsettled.join('; ')}`,
        settled.unsettled.length === 0,
      ),
      claim(`status tells the truth: ${settled.untrue.join('; ')}`, settled.untrue.length === 0),
      claim(`the daemon never ended by itself (${supervisor.ownEnds})`, supervisor.ownEnds === 0),
      claim(`nothing runs beside what should: ${settled.surplus.join('; ')}`, settled.surplus.length === 0),
      claim(`nothing is left running in the end: ${left.join('; ')}`, left.length === 0),
    ];
    if (!claims.every(({ holds }) => holds))
      note(`seed ${seed} broke it; what speaks of it is kept in ${await keep(stage, seed, ghostlight, notes)}`);
    const failed = ghostlight.failures.length + notes.failures.length;
    return {
      figures: {
        seed,
        minutes,
        targets: 3,
        kills: deeds.kills,
        deploys: deeds.deploys,
        requests: ghostlight.requests + notes.requests,
        acked,
        lost,
        doubled,
        failed,
        epochs: world.epochs,
        notesWriters: kept.writers,
        daemonStarts: supervisor.starts,
        settleMs: round(settled.tookMs),
        ownDisk: stage.disk !== null,
        actions: deeds.done,
        outcomes: settled.outcomes,
        refused: orders.refused,
      },
      claims,
    };
  });
}

function load({ ports }: Stage): { stop(): Promise<readonly [LoadReport, LoadReport]> } {
  const ghostlight = new Load({ port: ports.ghostlight, clients: CLIENTS.ghostlight, restMs: REST_MS, name: 'light' });
  const notes = new Load({
    port: ports.notes,
    clients: CLIENTS.notes,
    restMs: REST_MS,
    name: 'note',
    paths: { post: '/notes', read: '/' },
  });
  return { stop: () => Promise.all([ghostlight.stop(), notes.stop()]) };
}

/** What a run must at least have done to show anything. */
function tooLittle(minutes: number, { kills, deploys, done }: Deeds, acked: number): readonly Claim[] {
  return [
    claim(`enough was killed (${kills})`, kills >= minutes * 8),
    claim(`enough was deployed (${deploys})`, deploys >= minutes * 10),
    claim(`enough was written (${acked})`, acked >= minutes * 500),
    claim(
      `enough was stopped and let go on`,
      Object.keys(done).some((name) => name.startsWith('stop ')),
    ),
  ];
}

/** The logs, the states as they stand and what was acknowledged, in a directory of its own. */
async function keep({ fleet }: Stage, seed: number, ghostlight: LoadReport, notes: LoadReport): Promise<string> {
  const kept = await mkdtemp(join(tmpdir(), `idunn-chaos-${seed}-`));
  for (const name of ['logs', 'world', 'notes']) {
    await cp(join(fleet.work, name), join(kept, name), { recursive: true });
  }
  await writeFile(join(kept, 'told.json'), JSON.stringify({ ghostlight, notes }));
  return kept;
}
