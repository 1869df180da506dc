import type { Admitted } from '../records/target.ts';
import { type DeployEvidence, planOf, slotOf } from './evidence.ts';
import { readRows } from './rows.ts';

/** Whether what is admitted still stands: its process lives, is ready, and lease and route name it (I3, I4). */
export function standsAsAdmitted(e: DeployEvidence, admitted: Admitted): 'stands' | 'fallen' | 'unknown' {
  const plan = planOf(e, admitted.plan);
  const id = admitted.document.activation;
  const { process, word } = slotOf(e, id);
  if (process.kind === 'absent') return 'fallen';
  if (process.kind === 'unknown' || word.kind === 'unknown') return 'unknown';
  if (plan.state !== null) {
    if (e.rows.kind === 'unknown') return 'unknown';
    const reading = e.rows.kind === 'seen' ? readRows(e.rows.value, null) : null;
    if (reading?.kind !== 'uniform' || reading.standing.activation !== id) return 'fallen';
  }
  if (plan.route !== null) {
    if (e.route.kind === 'unknown') return 'unknown';
    if (e.route.kind === 'absent' || !e.route.value.members.every(({ activation }) => activation === id))
      return 'fallen';
    if (e.route.value.members.length === 0) return 'fallen';
  }
  const ready = word.kind === 'seen' && word.value.ready?.activation === id && word.value.present?.fresh === true;
  return ready && word.value.present?.state === 'active' ? 'stands' : 'fallen';
}
