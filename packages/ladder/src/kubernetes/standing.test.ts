import assert from 'node:assert/strict';
import { test } from 'node:test';
import { standingOf } from './standing.ts';
import { type WorkloadKind, workloadSchema } from './workload.ts';

const rows: readonly (readonly [string, WorkloadKind, object, object, string])[] = [
  ['all of the new ones are available', 'deployment', { replicas: 2 }, all(2), 'ready'],
  [
    'the controller has not seen it',
    'deployment',
    { replicas: 2 },
    { ...all(2), observedGeneration: 1 },
    'its controller',
  ],
  ['old ones are left', 'deployment', { replicas: 2 }, { ...all(2), replicas: 3 }, '1 of the old'],
  ['not yet available', 'deployment', { replicas: 2 }, { ...all(2), availableReplicas: 1 }, '1 of 2 to become'],
  ['scaled to nothing', 'deployment', { replicas: 0 }, all(0), 'ready'],
  ['paused', 'deployment', { replicas: 2, paused: true }, all(2), 'paused'],
  ['its deadline passed', 'deployment', { replicas: 2 }, { ...all(2), conditions: [LATE()] }, 'too late'],
  [
    'another revision is current',
    'statefulset',
    { replicas: 2 },
    { ...all(2), currentRevision: 'a', updateRevision: 'b' },
    'revision b',
  ],
  [
    'the revision is current',
    'statefulset',
    { replicas: 2 },
    { ...all(2), currentRevision: 'b', updateRevision: 'b' },
    'ready',
  ],
  [
    'a partition stays behind',
    'statefulset',
    { replicas: 3, updateStrategy: { rollingUpdate: { partition: 2 } } },
    { ...all(3), updatedReplicas: 1 },
    'ready',
  ],
  [
    'only deletion updates it',
    'statefulset',
    { replicas: 2, updateStrategy: { type: 'OnDelete' } },
    all(2),
    'only when its pods',
  ],
  ['a daemon set on every node', 'daemonset', {}, daemons(3, 3, 3), 'ready'],
  ['a daemon set under way', 'daemonset', {}, daemons(3, 2, 2), '1 of 3 to be updated'],
];

for (const [what, kind, spec, status, expected] of rows) {
  test(`where a rollout stands: ${kind}, ${what}`, () => {
    const template = { spec: { containers: [{ name: 'web', image: 'web:1' }] } };
    const metadata = { name: 'web', uid: 'u', resourceVersion: '1', generation: 2 };
    const workload = workloadSchema.parse({ metadata, spec: { ...spec, template }, status });
    const standing = standingOf({ kind, name: 'web', container: null }, workload);
    const said =
      standing.kind === 'ready' ? 'ready' : standing.kind === 'failed' ? standing.because : standing.progress.waitingOn;
    assert.ok(said.includes(expected), said);
  });
}

function all(count: number): object {
  return {
    observedGeneration: 2,
    replicas: count,
    updatedReplicas: count,
    readyReplicas: count,
    availableReplicas: count,
  };
}

function daemons(wanted: number, updated: number, available: number): object {
  return {
    observedGeneration: 2,
    desiredNumberScheduled: wanted,
    updatedNumberScheduled: updated,
    numberAvailable: available,
  };
}

function LATE(): object {
  return { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded', message: 'too late' };
}
