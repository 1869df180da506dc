import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import { z } from 'zod';
import { ask, objectOf } from './answer.ts';
import { awaitRollout, type Waiting } from './await-rollout.ts';
import { patchOver } from './change.ts';
import { listAll } from './list.ts';
import { readWorkload, type WorkloadRef, workloadPath, workloadSchema, workloadsPath } from './workload.ts';

/** Remembers, on the object itself, what it is woken to. */
export const AWAKE_REPLICAS = 'idunn.dev/awake-replicas';
/** Marks a schedule that was suspended by a sleep, so that waking resumes only those. */
export const AWAKE_SCHEDULE = 'idunn.dev/awake-schedule';

const scheduleSchema = z.object({
  metadata: z.object({
    name: z.string(),
    resourceVersion: z.string(),
    annotations: z.record(z.string(), z.string()).default({}),
  }),
  spec: z.object({ suspend: z.boolean().default(false) }),
});

const schedulesPath = (namespace: string): string =>
  `/apis/batch/v1/namespaces/${encodeURIComponent(namespace)}/cronjobs`;

interface Place {
  readonly namespace: string;
  readonly deadlineMs: number;
}

/**
 * Scales every deployment and stateful set to nothing and suspends every schedule, remembering what was. A daemon set
 * cannot be scaled: a namespace that has one is refused before anything is changed.
 */
export async function sleepNamespace(waiting: Waiting, { namespace, deadlineMs }: Place): Promise<Outcome<void>> {
  const { api } = waiting;
  const daemons = await listAll(api, workloadsPath(namespace, 'daemonset'), workloadSchema);
  if (!daemons.ok) return daemons;
  if (daemons.value.items.length > 0) {
    const names = daemons.value.items.map(({ metadata }) => `daemonset/${metadata.name}`).join(', ');
    return refused(refusal('workload-never-sleeps', `${namespace} has ${names}.`));
  }
  // Schedules first: one that fires into a namespace half asleep would start what is being stopped.
  const suspended = await eachSchedule(waiting, namespace, ({ spec }) =>
    spec.suspend ? null : { metadata: { annotations: { [AWAKE_SCHEDULE]: 'true' } }, spec: { suspend: true } },
  );
  if (!suspended.ok) return suspended;
  return eachScalable(waiting, namespace, deadlineMs, (workload) => {
    const { replicas } = workload.spec;
    if (replicas === 0) return null;
    return { metadata: { annotations: { [AWAKE_REPLICAS]: String(replicas) } }, spec: { replicas: 0 } };
  });
}

/** Scales every workload that a sleep scaled down to what was remembered, and waits until all of them are ready. */
export async function wakeNamespace(waiting: Waiting, { namespace, deadlineMs }: Place): Promise<Outcome<void>> {
  const woken = await eachScalable(waiting, namespace, deadlineMs, (workload) => {
    const remembered = workload.metadata.annotations[AWAKE_REPLICAS];
    if (remembered === undefined) return null;
    const replicas = /^[1-9][0-9]{0,5}$/.test(remembered) ? Number(remembered) : null;
    if (replicas === null) return 'unreadable';
    return { metadata: { annotations: { [AWAKE_REPLICAS]: null } }, spec: { replicas } };
  });
  if (!woken.ok) return woken;
  return eachSchedule(waiting, namespace, ({ metadata }) =>
    metadata.annotations[AWAKE_SCHEDULE] === undefined
      ? null
      : { metadata: { annotations: { [AWAKE_SCHEDULE]: null } }, spec: { suspend: false } },
  );
}

type Patch = object | null | 'unreadable';

async function eachScalable(
  waiting: Waiting,
  namespace: string,
  deadlineMs: number,
  patch: (workload: z.infer<typeof workloadSchema>) => Patch,
): Promise<Outcome<void>> {
  const { api, clock } = waiting;
  const untilMs = clock.monotonicMs() + deadlineMs;
  const refs: WorkloadRef[] = [];
  for (const kind of ['statefulset', 'deployment'] as const) {
    const listed = await listAll(api, workloadsPath(namespace, kind), workloadSchema);
    if (!listed.ok) return listed;
    refs.push(...listed.value.items.map(({ metadata }) => ({ kind, name: metadata.name, container: null })));
  }
  for (const ref of refs) {
    const changed = await patchOver(
      api,
      workloadPath(namespace, ref),
      () => readWorkload(api, namespace, ref),
      (object) => {
        const wanted = patch(object);
        if (wanted !== 'unreadable') return ok(wanted);
        const what = `${AWAKE_REPLICAS} of ${ref.kind}/${ref.name}`;
        return refused(refusal('cluster-answer-unreadable', `${what} is no number of replicas.`));
      },
    );
    if (!changed.ok) return changed;
  }
  for (const ref of refs) {
    const leftMs = Math.max(0, untilMs - clock.monotonicMs());
    const end = await awaitRollout(waiting, { namespace, ref, deadlineMs: leftMs }, () => {});
    if (end.kind === 'ready') continue;
    const last = end.kind === 'failed' ? end.because : (end.last?.waitingOn ?? 'its first word');
    return refused(refusal('scale-not-reached', `${ref.kind}/${ref.name} in ${namespace} waited on ${last}.`));
  }
  return ok(undefined);
}

async function eachSchedule(
  { api }: Waiting,
  namespace: string,
  patch: (schedule: z.infer<typeof scheduleSchema>) => object | null,
): Promise<Outcome<void>> {
  const listed = await listAll(api, schedulesPath(namespace), scheduleSchema);
  if (!listed.ok) return listed;
  for (const { metadata } of listed.value.items) {
    const path = `${schedulesPath(namespace)}/${encodeURIComponent(metadata.name)}`;
    const read = async () => objectOf(await ask(api, { method: 'GET', path }), scheduleSchema, path);
    const changed = await patchOver(api, path, read, (schedule) => ok(patch(schedule)));
    if (!changed.ok) return changed;
  }
  return ok(undefined);
}
