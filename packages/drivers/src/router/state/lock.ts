import { holdLock, type Outcome, ok, refusal, refused } from '@idunn/kernel';

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
