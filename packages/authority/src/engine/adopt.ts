import { type Evidence, unknown } from '@idunn/kernel';
import type { ObservedRuntime } from '@idunn/readiness';
import type { EnginePorts } from '../ports/engine-ports.ts';
import type { Body } from '../records/body.ts';
import type { TargetActor } from './actor.ts';
import type { EngineCore } from './core.ts';

/** Wait before a process that could not be looked at is looked at again. */
const LOOK_AGAIN_MS = 1_000;

/**
 * Takes up what runs: found by its handle, watched, its lease connection opened anew. What is gone or cannot be judged
 * is held with an incident (I6, I10). Answers whether everything could be judged.
 */
export async function adopt(core: EngineCore, actor: TargetActor): Promise<boolean> {
  const target = actor.record?.value;
  if (target === undefined) return true;
  const bodies = [target.stranded, target.admitted].filter((body) => body !== null);
  const judged = await Promise.all(bodies.map((body) => adoptBody(core, actor, body)));
  const all = judged.every((one) => one);
  if (!all) core.ports.timers.after(LOOK_AGAIN_MS, () => void adoptAgain(core, actor));
  return all;
}

async function adoptAgain(core: EngineCore, actor: TargetActor): Promise<void> {
  if (core.stopped) return;
  try {
    await adopt(core, actor);
  } catch (fault) {
    core.fault(fault, actor.target);
  }
}

async function adoptBody({ ports }: EngineCore, actor: TargetActor, body: Body): Promise<boolean> {
  const process = await observed(ports, body);
  switch (process.kind) {
    case 'seen':
      ports.workload.watch(body.handle);
      actor.incidents.delete('admitted-unjudged');
      actor.incidents.delete('admitted-process-lost');
      // A connection that cannot be had now is opened by the deployment that needs it.
      if (body.epoch !== null) await ports.channel.open(body.handle).catch(() => undefined);
      return true;
    case 'absent':
      actor.incidents.delete('admitted-unjudged');
      actor.raise('admitted-process-lost', `${body.document.activation} of ${body.incarnation} is gone`);
      return true;
    case 'unknown':
      actor.raise('admitted-unjudged', `${body.incarnation}: ${process.because}`);
      return false;
  }
}

/** A driver that throws has seen nothing (I10). */
async function observed({ workload }: EnginePorts, body: Body): Promise<Evidence<ObservedRuntime>> {
  try {
    return await workload.observe(body.handle, body.release);
  } catch (fault) {
    return unknown(fault instanceof Error ? fault.message : String(fault));
  }
}
