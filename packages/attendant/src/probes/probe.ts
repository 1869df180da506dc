import { type AttendedProbe, type LaunchDocument, type Machine, messageOf } from '@idunn/workload/attending';
import { bad, type Finding } from '../model/reading.ts';
import { probeCommand } from './command.ts';
import { probeHttp } from './http.ts';
import { probeTcp } from './tcp.ts';

export interface Probing {
  readonly probe: AttendedProbe;
  readonly endpoint: LaunchDocument['endpoint'];
  readonly timeoutMs: number;
}

/** Looks at a program once. Whatever goes wrong is a bad finding with its reason, never an exception. */
export async function lookAt({ probe, endpoint, timeoutMs }: Probing, machine: Machine): Promise<Finding> {
  try {
    if (probe.kind === 'command') return await probeCommand(probe, timeoutMs, machine);
    if (endpoint === null) return bad('the program has no endpoint to be looked at');
    return await (probe.kind === 'http'
      ? probeHttp(probe, endpoint, timeoutMs, machine)
      : probeTcp(endpoint, timeoutMs, machine));
  } catch (error) {
    return bad(`the probe cannot be carried out: ${messageOf(error)}`);
  }
}
