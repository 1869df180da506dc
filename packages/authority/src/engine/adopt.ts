import { onDuty } from '../decisions/continuity-evidence.ts';
import type { Body } from '../records/body.ts';
import type { ContinuityRecord } from '../records/continuity.ts';
import type { TargetRecord } from '../records/target.ts';
import type { TargetActor } from './actor.ts';
import type { EngineCore } from './core.ts';
import type { Held } from './journal.ts';
import { look } from './look.ts';

/** Processes that are looked at at once. */
const LOOKS_AT_ONCE = 64;
/** How long the start waits for looks at most: one that does not come back holds up only what it is about. */
const ADOPT_MS = 5_000;

/** A target as an engine that begins finds it, by its records. */
export interface Found {
  readonly actor: TargetActor;
  readonly target: Held<TargetRecord>;
  readonly continuity: Held<ContinuityRecord> | null;
}

/** Takes targets up from their records, and what runs of them; then each goes on by itself. */
export async function takeUp(core: EngineCore, found: readonly Found[]): Promise<void> {
  await Promise.all(
    found.map(async ({ actor, target, continuity }) => {
      await actor.load(target);
      actor.vigil.load(continuity);
    }),
  );
  await adopt(
    core,
    found.map(({ actor }) => actor),
  );
  for (const { actor } of found) {
    actor.watchLaunches();
    actor.wake();
  }
}

/**
 * Takes up what runs: each process found by its handle and watched, before anything else is asked of any target. What
 * is gone is brought back by continuity, and what cannot be judged is held with an incident and looked at again (I6,
 * I9, I10).
 */
async function adopt(core: EngineCore, actors: readonly TargetActor[]): Promise<void> {
  const patience = Promise.withResolvers<void>();
  const withdraw = core.ports.timers.after(ADOPT_MS, patience.resolve);
  const standing = actors.flatMap((actor) => bodiesOf(actor).map((body) => ({ actor, body }))).values();
  const oneByOne = async (): Promise<void> => {
    for (const { actor, body } of standing) await adoptOne(core, actor, body);
  };
  await Promise.race([Promise.all(Array.from({ length: LOOKS_AT_ONCE }, oneByOne)), patience.promise]);
  withdraw();
}

async function adoptOne({ ports }: EngineCore, actor: TargetActor, body: Body): Promise<void> {
  const target = actor.record?.value;
  const isOnDuty = target !== undefined && body === onDuty(target);
  const process = isOnDuty ? await actor.vigil.look(body) : await look(ports, body);
  // One that cannot be had now is opened by the deployment that needs it.
  if (process.kind === 'seen' && body.epoch !== null) void ports.channel.open(body.handle).catch(() => undefined);
}

function bodiesOf({ record }: TargetActor): readonly Body[] {
  return [record?.value.stranded ?? null, record?.value.admitted ?? null].filter((body) => body !== null);
}
