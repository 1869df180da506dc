import type { Answer, DoctorCheck, FleetAnswer } from '@idunn/client';
import { plural } from '../render/words.ts';
import { bad, good } from './check.ts';

/** Whether `fleet.toml` and the bindings can be used as they stand now; what runs does not need them. */
export function fleetFiles(answer: Answer<FleetAnswer>): DoctorCheck {
  if (!answer.ok) return bad('fleet files', answer.refusal.reason, answer.refusal.remedy);
  const { directory, faults, targets } = answer.value;
  const [first] = faults;
  return first === undefined
    ? good('fleet files', `${plural(targets.length, 'target')} bound in ${directory}`)
    : bad(
        'fleet files',
        `${plural(faults.length, 'fault')}, the first at ${first.file}:${first.line}:${first.column}: ${first.message}`,
        'Run idunn status for all of them, and correct each.',
      );
}
