import { moment } from '@idunn/kernel';
import type { Plan } from '@idunn/release';
import type { DeployEvidence, Marks } from '../decisions/evidence.ts';
import type { TargetRecord } from '../records/target.ts';
import type { EngineCore } from './core.ts';
import type { Lane, Readings } from './lane.ts';
import { planAtHand } from './readings.ts';
import { NOTHING_READ, read, readingsOf, STOPS_NOT_READ, stops, wantsStops, words } from './witness.ts';

/** How long a reading before the handover counts as fresh. */
const FRESH_MS = 100;

/** Everything that a decision about one transaction is shown now: read anew only where it does not stand. */
export async function gather(
  core: EngineCore,
  lane: Lane,
  target: TargetRecord,
  firstWrites: Marks['firstWrites'],
): Promise<DeployEvidence> {
  const { plans, incarnations } =
    core.library.shelfAtHand(lane.tx, target) ?? (await core.library.shelf(lane.tx, target));
  const plan = planAtHand(lane, plans);
  const context = core.witness;
  const readings = standing(core, lane, plan) ?? (await readNow(core, lane, target, plan));
  const stop = wantsStops(lane.tx, plan) ? await stops(context, lane.tx, plan) : STOPS_NOT_READ;
  const slots = words(context, lane, target, readings);
  lane.hear(slots);
  return {
    ...readings,
    ...stop,
    now: moment(core.ports.clock),
    fresh: core.fresh(),
    target,
    plans,
    incarnations,
    answers: lane.shown,
    marks: lane.marks(firstWrites),
    running: [...lane.running.keys()],
    slots,
  };
}

/**
 * What still stands of what was read: until something puts it in doubt, and before the handover no longer than a moment
 * in any case.
 */
function standing(core: EngineCore, lane: Lane, plan: Plan | null): Readings | null {
  const { reads, each } = readingsOf(lane.tx, plan);
  // Before there is a plan nothing is decided by what stands.
  if (reads.length === 0 || (lane.tx.state.phase === 'planned' && plan === null)) return NOTHING_READ;
  return each && core.ports.clock.monotonicMs() - lane.readAtMs > FRESH_MS ? null : lane.readings;
}

async function readNow(core: EngineCore, lane: Lane, target: TargetRecord, plan: Plan | null): Promise<Readings> {
  const atMs = core.ports.clock.monotonicMs();
  const { doubts } = lane;
  const readings = await read(core.witness, lane, target, plan, readingsOf(lane.tx, plan).reads);
  if (doubts === lane.doubts) {
    lane.readings = readings;
    lane.readAtMs = atMs;
  }
  return readings;
}
