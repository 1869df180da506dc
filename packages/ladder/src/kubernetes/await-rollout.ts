import type { Clock, Timers } from '@idunn/kernel';
import type { RolloutEnd, RolloutProgress } from '../operations/port.ts';
import type { KubeApi, KubeWatch } from './api.ts';
import { listAll } from './list.ts';
import { type RolloutStanding, standingOf } from './standing.ts';
import { type WorkloadRef, workloadSchema, workloadsPath } from './workload.ts';

/** From the end of one watch to the next listing. */
const RETRY_MS = 500;

export interface Waiting {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly timers: Timers;
}

/**
 * Follows one workload by list and watch until `settled` answers or the deadline passes. Each watch goes on from the
 * version that was listed; one that ended, or whose version is too old (410), begins with a new listing.
 */
export async function awaitRollout(
  { api, clock, timers }: Waiting,
  at: { readonly namespace: string; readonly ref: WorkloadRef; readonly deadlineMs: number },
  tell: (step: RolloutProgress) => void,
): Promise<RolloutEnd> {
  const untilMs = clock.monotonicMs() + at.deadlineMs;
  const { promise: deadline, resolve: passed } = Promise.withResolvers<'deadline'>();
  const withdraw = timers.after(at.deadlineMs, () => passed('deadline'));
  let last: RolloutProgress | null = null;
  const judge = (standing: RolloutStanding): RolloutEnd | null => {
    if (standing.kind !== 'going') return standing;
    const { progress } = standing;
    if (JSON.stringify(progress) !== JSON.stringify(last)) tell(progress);
    last = progress;
    return null;
  };
  try {
    while (clock.monotonicMs() < untilMs) {
      const round = await Promise.race([follow(api, at, judge, deadline), deadline]);
      if (round === 'deadline') break;
      if (round !== 'again') return round;
      await Promise.race([new Promise<void>((resolve) => timers.after(RETRY_MS, resolve)), deadline]);
    }
    return { kind: 'deadline', last };
  } finally {
    withdraw();
  }
}

async function follow(
  api: KubeApi,
  { namespace, ref }: { readonly namespace: string; readonly ref: WorkloadRef },
  judge: (standing: RolloutStanding) => RolloutEnd | null,
  deadline: Promise<unknown>,
): Promise<RolloutEnd | 'again'> {
  const path = workloadsPath(namespace, ref.kind);
  const only = { fieldSelector: `metadata.name=${ref.name}` };
  const listed = await listAll(api, path, workloadSchema, only);
  if (!listed.ok) {
    // A right that is missing does not come back by waiting; a server that is away does.
    return listed.refusal.code === 'cluster-access-refused'
      ? { kind: 'failed', because: listed.refusal.reason }
      : 'again';
  }
  const [first] = listed.value.items;
  const gone: RolloutEnd = { kind: 'failed', because: `${ref.kind}/${ref.name} is not in ${namespace}` };
  if (first === undefined) return gone;
  const now = judge(standingOf(ref, first));
  if (now !== null) return now;

  const { promise: settled, resolve: settle } = Promise.withResolvers<RolloutEnd | 'again'>();
  const query = { ...only, resourceVersion: listed.value.resourceVersion, allowWatchBookmarks: 'true' };
  const watch: KubeWatch = await api.watch(path, query, (type, object) => {
    if (type === 'ERROR') return settle('again');
    if (type === 'DELETED') return settle(gone);
    const read = workloadSchema.safeParse(object);
    if (!read.success) return;
    const end = judge(standingOf(ref, read.data));
    if (end !== null) settle(end);
  });
  try {
    return await Promise.race([
      settled,
      watch.ended.then(() => 'again' as const),
      deadline.then(() => 'again' as const),
    ]);
  } finally {
    watch.stop();
  }
}
