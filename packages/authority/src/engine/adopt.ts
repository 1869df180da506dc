import { onDuty } from '../decisions/continuity-evidence.ts';
import type { TargetActor } from './actor.ts';
import type { EngineCore } from './core.ts';
import { look } from './look.ts';

/**
 * Takes up what runs: found by its handle, watched, its lease connection opened anew. What is gone is brought back by
 * continuity, and what cannot be judged is held with an incident and looked at again (I6, I9, I10).
 */
export async function adopt({ ports }: EngineCore, actor: TargetActor): Promise<void> {
  const target = actor.record?.value;
  if (target === undefined) return;
  const bodies = [target.stranded, target.admitted].filter((body) => body !== null);
  await Promise.all(
    bodies.map(async (body) => {
      const process = await look(ports, body);
      if (body === onDuty(target)) actor.vigil.looked(body, process);
      // One that cannot be had now is opened by the deployment that needs it.
      if (process.kind === 'seen' && body.epoch !== null) void ports.channel.open(body.handle).catch(() => undefined);
    }),
  );
}
