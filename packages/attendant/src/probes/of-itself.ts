import type { Listener } from '../edge/listener.ts';
import { bad, type Finding } from '../model/reading.ts';
import type { Probing } from './probe.ts';

/**
 * What a finding says of the program itself. A good answer that somebody else's socket gave is none: a port that was
 * free when it was picked may be another's by now (I5, I7).
 */
export async function ofItself(
  finding: Finding,
  { probe, endpoint }: Pick<Probing, 'probe' | 'endpoint'>,
  listener: (port: number) => Promise<Listener>,
): Promise<Finding> {
  if (!finding.good || endpoint === null || probe.kind === 'command') return finding;
  const found = await listener(endpoint.port);
  return found.kind === 'other' ? bad(`${finding.said}, and port ${endpoint.port} belongs to ${found.who}`) : finding;
}
