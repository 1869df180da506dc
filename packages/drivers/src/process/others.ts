import type { Timers } from '@idunn/kernel';
import type { RuntimeIdentity } from '@idunn/readiness';
import { type Standpoint, signal, vital } from './identity.ts';

/** What came of processes that should not be. */
export interface OthersEnded {
  /** Seen gone after our signal. */
  readonly ended: readonly RuntimeIdentity[];
  /** Still there, or not to be judged. */
  readonly left: readonly RuntimeIdentity[];
}

/** Between two looks at processes that were killed. */
const LOOK_MS = 2;

/** Kills exactly these processes (F12) and answers what was then seen of each; looked at for at least `killMs`. */
export async function endAll(
  identities: readonly RuntimeIdentity[],
  { from, timers, killMs }: { readonly from: Standpoint; readonly timers: Timers; readonly killMs: number },
): Promise<OthersEnded> {
  const living = identities.filter((identity) => vital(identity, from).kind !== 'absent');
  if (living.length === 0) return { ended: [], left: [] };
  for (const identity of living) signal(identity, 'SIGKILL', from);
  const remaining = (): readonly RuntimeIdentity[] =>
    living.filter((identity) => vital(identity, from).kind !== 'absent');
  for (let waitedMs = 0; waitedMs < killMs && remaining().length > 0; waitedMs += LOOK_MS) {
    await new Promise<void>((resolve) => void timers.after(LOOK_MS, resolve));
  }
  const left = remaining();
  return { ended: living.filter((identity) => !left.includes(identity)), left };
}
