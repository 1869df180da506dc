import type { Concern } from '../decisions/continuity-decision.ts';
import type { IncidentCode } from '../model/incident-code.ts';
import type { Causes } from './incident-book.ts';
import type { Lane } from './lane.ts';

/** What a person should look at of one target: faults of ours, what continuity is concerned about, what is stuck. */
export function causesOf(
  faults: ReadonlyMap<IncidentCode, string>,
  concerns: readonly Concern[],
  lanes: Iterable<Pick<Lane, 'tx' | 'waiting'>>,
): Causes {
  const causes = new Map(faults);
  for (const { code, detail } of concerns) causes.set(code, detail);
  for (const { tx, waiting } of lanes) {
    if (waiting?.wait.incident !== undefined) {
      causes.set(waiting.wait.incident, `${tx.id} waits on ${waiting.wait.what}`);
    }
    if ('stuck' in tx.state && tx.state.stuck !== null) {
      causes.set('operator-required', `${tx.id}: ${tx.state.stuck.reason} ${tx.state.stuck.remedy}`);
    }
  }
  return causes;
}
