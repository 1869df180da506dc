import type { WorkloadHandle } from '@idunn/authority';
import type { AttendantDriver, ProcessDriver } from '@idunn/drivers';

/** Programs that are handed to the attendant at once; the others wait their turn. */
const AT_ONCE = 8;

export interface Attending {
  /** From now on: what was watched before waits until everything that runs has been found. */
  begin(): void;
}

/**
 * Whatever is watched and does not speak for itself is attended: a program that was just started, and one that a
 * restarted daemon took up. Who has died is attended no more.
 */
export function attendWatched(
  workload: Pick<ProcessDriver, 'isAttended' | 'onWatch' | 'subscribe'>,
  attendant: Pick<AttendantDriver, 'open' | 'close'>,
  log: (text: string) => void,
): Attending {
  /** By activation: each waits once. */
  const waiting = new Map<string, WorkloadHandle>();
  let begun = false;
  let handing = 0;

  async function attend(handle: WorkloadHandle): Promise<void> {
    if (!(await workload.isAttended(handle.activation))) return;
    const opened = await attendant.open(handle);
    // The attendant comes back by itself and is told again; who waits for the program's word says so.
    if (!opened.ok) log(`${handle.activation} is not attended: ${opened.refusal.reason}`);
  }

  function next(): void {
    const first = waiting.entries().next();
    if (!begun || handing >= AT_ONCE || first.done === true) return;
    const [activation, handle] = first.value;
    waiting.delete(activation);
    handing += 1;
    void attend(handle)
      .catch((fault: unknown) => log(`${activation} is not attended: ${String(fault)}`))
      .finally(() => {
        handing -= 1;
        next();
      });
    next();
  }

  workload.onWatch((handle) => {
    waiting.set(handle.activation, handle);
    next();
  });
  workload.subscribe(({ activation }) => {
    waiting.delete(activation);
    void attendant.close(activation);
  });
  return {
    begin() {
      begun = true;
      next();
    },
  };
}
