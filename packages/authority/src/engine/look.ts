import { type Evidence, unknown } from '@idunn/kernel';
import type { ObservedRuntime } from '@idunn/readiness';
import type { EnginePorts } from '../ports/engine-ports.ts';
import type { Body } from '../records/body.ts';

/** Looks at a process by its handle; one that is seen is watched from then on. A driver that throws saw nothing. */
export async function look({ workload }: EnginePorts, body: Body): Promise<Evidence<ObservedRuntime>> {
  try {
    const process = await workload.observe(body.handle, body.release);
    if (process.kind === 'seen') workload.watch(body.handle);
    return process;
  } catch (fault) {
    return unknown(fault instanceof Error ? fault.message : String(fault));
  }
}
