import type { WorkloadHandle } from '@idunn/authority';
import type { AttendantDriver, ProcessDriver } from '@idunn/drivers';

/**
 * Whatever is watched and does not speak for itself is attended: a program that was just started, and one that a
 * restarted daemon took up. Who has died is attended no more.
 */
export function attendWatched(workload: ProcessDriver, attendant: AttendantDriver, log: (text: string) => void): void {
  async function attend(handle: WorkloadHandle): Promise<void> {
    if (!(await workload.isAttended(handle.activation))) return;
    const opened = await attendant.open(handle);
    // The attendant comes back by itself and is told again; who waits for the program's word says so.
    if (!opened.ok) log(`${handle.activation} is not attended: ${opened.refusal.reason}`);
  }

  workload.onWatch((handle) => void attend(handle));
  workload.subscribe(({ activation }) => void attendant.close(activation));
}
