import { holdLock, type Outcome, ok, refusal, refused, type Timers } from '@idunn/kernel';
import { LIMITS } from '../limits.ts';

/** One router per state file. */
export function takeLock(stateFile: string): Outcome<{ close(): void }> {
  const path = `${stateFile}.lock`;
  const lock = holdLock(path);
  switch (lock.kind) {
    case 'held':
      return ok({ close: () => lock.release() });
    case 'elsewhere':
      return refused(refusal('router-already-running', `Another router holds ${path}.`));
    case 'failed':
      return refused(refusal('router-state-not-written', `The lock ${path} cannot be taken: ${lock.because}.`));
  }
}

/** Takes the lock back from a successor that is ending; refused when another router has it for good. */
export async function takeLockAgain(stateFile: string, timers: Timers): Promise<ReturnType<typeof takeLock>> {
  for (let waitedMs = 0; ; waitedMs += LIMITS.takeBackEveryMs) {
    const lock = takeLock(stateFile);
    if (lock.ok || waitedMs >= LIMITS.takeBackMs) return lock;
    await new Promise<void>((resolve) => void timers.after(LIMITS.takeBackEveryMs, resolve));
  }
}
