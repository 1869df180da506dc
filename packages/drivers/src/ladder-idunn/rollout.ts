import type { Client } from '@idunn/client';
import type { Timers } from '@idunn/kernel';
import type { RolloutEnd, RolloutProgress } from '@idunn/ladder';

/**
 * Follows one deployment to its outcome. A deployment that was rolled back has failed: what ran before runs again, by
 * the fleet's own authority.
 */
export async function followRollout(
  { client, timers }: { readonly client: Client; readonly timers: Timers },
  {
    workload,
    transaction,
    deadlineMs,
  }: {
    readonly workload: string;
    readonly transaction: string;
    readonly deadlineMs: number;
  },
  progress: (step: RolloutProgress) => void,
): Promise<RolloutEnd> {
  const gone = new AbortController();
  const withdraw = timers.after(deadlineMs, () => gone.abort());
  let last: RolloutProgress | null = null;
  const tell = (waitingOn: string): void => {
    last = { workload, updated: 0, ready: 0, wanted: 1, waitingOn };
    progress(last);
  };
  try {
    for await (const told of client.events({ transaction, signal: gone.signal })) {
      if (told.kind === 'lost') tell(`the daemon: ${told.refusal.reason}`);
      const result =
        told.kind === 'snapshot'
          ? told.transaction.result
          : told.kind === 'event' && told.event.event === 'outcome'
            ? told.event
            : null;
      if (result !== null) return endOf(result);
      if (told.kind !== 'event') continue;
      if (told.event.event === 'phase' && told.event.tookMs === null) tell(told.event.phase);
      if (told.event.event === 'wait' && told.event.wait !== null) tell(told.event.wait.what);
    }
    return { kind: 'deadline', last };
  } finally {
    withdraw();
    gone.abort();
  }
}

function endOf(result: { readonly outcome: string; readonly refusal: { readonly reason: string } | null }): RolloutEnd {
  if (result.outcome === 'admitted' || result.outcome === 'unchanged') return { kind: 'ready' };
  const why = result.refusal === null ? '' : `: ${result.refusal.reason}`;
  return { kind: 'failed', because: `the deployment ended ${result.outcome}${why}` };
}
