import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { answerOf, valueOf } from '../guard/testing/world.ts';
import { rollout } from '../index.ts';
import { storedReleaseValues, valueDrift } from './index.ts';
import { deploymentText, operated, ownCluster } from './testing/clusters.ts';
import { STUCK } from './testing/controllers.ts';
import { status } from './testing/status.ts';

const NAMESPACE = 'orchard-qa';
const APPS = `/apis/apps/v1/namespaces/${NAMESPACE}`;
const WEB = `${APPS}/deployments/web`;
const INGRESSES = '/apis/networking.k8s.io/v1/namespaces';
const web = { namespace: NAMESPACE, workload: 'deployment/web' };
const within = { namespace: NAMESPACE, deadlineMs: 5_000 };

/** A cluster in which `web` runs, and what a test changes it with. */
async function running(t: TestContext, more: { readonly conflicts?: 'take' } = {}) {
  const cluster = await ownCluster();
  t.after(() => cluster.close());
  const made = await operated(cluster, more);
  const apply = (...documents: string[]) =>
    made.operations.apply(made.clearance, { namespace: NAMESPACE, source: { kind: 'manifests', documents } });
  valueOf(await apply(deploymentText('web', cluster.images.first)));
  const set = (release: string) => made.operations.setRelease(made.clearance, { ...web, release });
  const wait = (deadlineMs: number) => made.operations.awaitRollout({ ...web, deadlineMs }, () => {});
  assert.equal((await wait(5_000)).kind, 'ready');
  return { ...made, ...cluster, apply, set, wait };
}

const daemonSet = (name: string) => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name, namespace: NAMESPACE },
  spec: {
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name, image: 'agent:1' }] } },
  },
});

const cronJob = (name: string, suspend: boolean) => ({
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name, namespace: NAMESPACE },
  spec: {
    schedule: '* * * * *',
    suspend,
    jobTemplate: {
      spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name, image: 'job:1' }] } } },
    },
  },
});

const ingress = (name: string, namespace: string, host: string) => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  metadata: { name, namespace },
  spec: { rules: [{ host }] },
});

test('an object that somebody else changed meanwhile is read again, and nobody is overwritten unseen', async (t) => {
  const { server, operations, clearance } = await running(t);
  let others = 0;
  server.meddle = ({ method, path }) => {
    if (method !== 'PATCH' || path !== WEB || others === 2) return null;
    others += 1;
    server.cluster.mergePatch(WEB, { spec: { replicas: 5 } }, 'autoscaler');
    return null;
  };
  valueOf(await operations.sleep(clearance, within));
  server.meddle = () => null;
  valueOf(await operations.wake(clearance, within));
  assert.equal(
    valueOf(await operations.workloads(web))[0]?.replicas,
    5,
    'what the other one set is what is remembered',
  );
});

test('an object that never holds still is refused, and not forced', async (t) => {
  const { server, operations, clearance } = await running(t);
  server.meddle = ({ method, path }) => {
    if (method === 'PATCH' && path === WEB) {
      server.cluster.setStatus(WEB, ({ metadata }) => ({ observedGeneration: metadata.generation }));
    }
    return null;
  };
  assert.equal(answerOf(await operations.sleep(clearance, within)), 'cluster-conflict');
});

test('a field that another manager owns is left alone and named; to take it is said explicitly', async (t) => {
  const refusing = await running(t);
  const taking = await running(t, { conflicts: 'take' });
  for (const { server } of [refusing, taking]) {
    const container = { spec: { template: { spec: { containers: [{ name: 'web', image: 'theirs:1' }] } } } };
    server.cluster.apply(WEB, container, { manager: 'helm', force: true, dryRun: false });
  }
  const refused = await refusing.set('web:2');
  assert.equal(answerOf(refused), 'field-owned-elsewhere');
  assert.deepEqual(!refused.ok && refused.refusal.detail, {
    owned: [{ field: '.spec.template.spec.containers[name=web].image', manager: 'helm' }],
  });
  assert.deepEqual(await refusing.operations.currentRelease(web), { kind: 'seen', value: 'theirs:1' });
  valueOf(await taking.set('web:2'));
  assert.deepEqual(await taking.operations.currentRelease(web), { kind: 'seen', value: 'web:2' });
});

test('a listing of many pages is whole, also when its continuation expires on the way', async (t) => {
  const { server, operations } = await running(t);
  for (let index = 0; index < 600; index += 1) {
    const namespace = `many-${index}`;
    const path = `${INGRESSES}/${namespace}/ingresses/one`;
    server.cluster.put(path, ingress('one', namespace, `${index}.example.test`));
  }
  server.expireContinuations = 2;
  assert.deepEqual(await operations.hostOwner('599.example.test'), { kind: 'seen', value: 'many-599' });
  server.expireContinuations = 10;
  assert.equal((await operations.hostOwner('599.example.test')).kind, 'unknown');
});

test('two namespaces with a route for one host are no answer (I10)', async (t) => {
  const { server, operations } = await running(t);
  for (const namespace of ['a', 'b']) {
    server.cluster.put(`${INGRESSES}/${namespace}/ingresses/x`, ingress('x', namespace, 'x.example.test'));
  }
  const owner = await operations.hostOwner('x.example.test');
  assert.ok(owner.kind === 'unknown' && owner.because.includes('a and b'));
});

test('the route of somebody else is not dropped', async (t) => {
  const { server, operations, clearance } = await running(t);
  const path = `${INGRESSES}/${NAMESPACE}/ingresses/theirs`;
  server.cluster.put(path, ingress('theirs', NAMESPACE, 'qa.example.test'));
  const dropped = await operations.dropRoute(clearance, { namespace: NAMESPACE, host: 'qa.example.test' });
  assert.equal(answerOf(dropped), 'field-owned-elsewhere');
  assert.ok(server.cluster.objects.has(path));
});

test('a watch that ends, or begins too late, goes on from a new listing', async (t) => {
  const { server, set, wait } = await running(t);
  valueOf(await set(STUCK));
  server.oldestVersion = server.cluster.version + 1_000;
  const waiting = wait(20_000);
  await until(() => server.requests.filter((line) => line === `GET ${APPS}/deployments`).length > 4);
  server.oldestVersion = 0;
  await until(() => server.watching > 0);
  server.closeWatches();
  await until(() => server.watching === 0);
  await until(() => server.watching > 0);
  valueOf(await set('web:3'));
  assert.equal((await waiting).kind, 'ready');
});

test('a rollout that stops half way ends at its deadline, and says what it waited on', async (t) => {
  const { set, wait } = await running(t);
  valueOf(await set(STUCK));
  const end = await wait(300);
  assert.ok(end.kind === 'deadline');
  assert.deepEqual(end.last, {
    workload: 'deployment/web',
    updated: 1,
    ready: 2,
    wanted: 2,
    waitingOn: '1 of 2 to be updated',
  });
});

test('a workload that is deleted while it is rolled out has failed', async (t) => {
  const { server, set, wait } = await running(t);
  valueOf(await set(STUCK));
  const waiting = wait(20_000);
  await until(() => server.watching > 0);
  server.cluster.remove(WEB);
  const end = await waiting;
  assert.ok(end.kind === 'failed' && end.because.includes('is not in'));
});

test('F8: a change whose answer was lost is looked up, and not made twice', async (t) => {
  const { server, operations, clearance } = await running(t);
  let cut = false;
  server.meddle = ({ path, query }) => {
    if (cut || path !== WEB || query.get('force') !== 'true') return null;
    cut = true;
    return 'cut-after';
  };
  const plan = { ...web, release: 'web:2', deadlineMs: 5_000 };
  const end = valueOf(await rollout(operations, clearance, plan));
  assert.deepEqual(end, { kind: 'promoted', from: 'registry.example.test/first:1', to: 'web:2' });
  assert.ok(cut);
  assert.equal(
    server.requests.filter((line) => line === `PATCH ${WEB}`).length,
    4,
    'two of the manifest, two of the set',
  );
});

test('what the server says about rights, load and faults is told apart', async (t) => {
  const { server, set, operations } = await running(t);
  const codes = [
    [403, 'cluster-access-refused'],
    [429, 'cluster-unreachable'],
    [503, 'cluster-unreachable'],
    [422, 'cluster-request-refused'],
  ] as const;
  for (const [code, refusal] of codes) {
    server.meddle = ({ method }) => (method === 'PATCH' ? status(code, 'Because', 'the reason') : null);
    assert.equal(answerOf(await set('web:2')), refusal);
  }
  server.meddle = () => 'cut-before';
  assert.equal((await operations.currentRelease(web)).kind, 'unknown');
  server.meddle = () => ({ status: 200, body: { kind: 'Deployment' } });
  assert.equal((await operations.currentRelease(web)).kind, 'unknown');
});

test('an object that was made anew under the same name is another one', async (t) => {
  const { server, set } = await running(t);
  server.meddle = ({ method, path }) => {
    if (method === 'PATCH' && path === WEB) {
      const { metadata: _, ...rest } = server.cluster.objects.get(WEB) ?? { metadata: null };
      server.cluster.remove(WEB);
      server.cluster.put(WEB, { ...rest, metadata: { name: 'web', namespace: NAMESPACE } });
    }
    return null;
  };
  assert.equal(answerOf(await set('web:2')), 'cluster-conflict');
});

test('a namespace with a daemon set is refused before anything of it sleeps', async (t) => {
  const { server, operations, clearance } = await running(t);
  server.cluster.put(`${APPS}/daemonsets/agent`, daemonSet('agent'));
  assert.equal(answerOf(await operations.sleep(clearance, within)), 'workload-never-sleeps');
  assert.equal(valueOf(await operations.workloads(web))[0]?.replicas, 2);
});

test('schedules sleep with their namespace; one that was suspended before stays so', async (t) => {
  const { server, operations, clearance } = await running(t);
  const at = (name: string): string => `/apis/batch/v1/namespaces/${NAMESPACE}/cronjobs/${name}`;
  server.cluster.put(at('nightly'), cronJob('nightly', false));
  server.cluster.put(at('retired'), cronJob('retired', true));
  const suspended = (): unknown[] =>
    ['nightly', 'retired'].map(
      (name) => (server.cluster.objects.get(at(name)) as { spec?: { suspend: boolean } } | undefined)?.spec?.suspend,
    );
  valueOf(await operations.sleep(clearance, within));
  assert.deepEqual(suspended(), [true, true]);
  valueOf(await operations.wake(clearance, within));
  assert.deepEqual(suspended(), [false, true]);
});

test('a manifest that no clearance for the namespace covers is refused, and so is one that is no object', async (t) => {
  const { apply, server } = await running(t);
  const elsewhere = deploymentText('x', 'x:1').replace('name: x }', 'name: x, namespace: orchard-production }');
  const role = 'apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: { name: all }\nrules: []\n';
  const requests = server.requests.length;
  for (const text of [
    elsewhere,
    role,
    'apiVersion: v1\nkind: Namespace\nmetadata: { name: other }\n',
    'apiVersion: apps/v1\nkind: Unheard\nmetadata: { name: x }\n',
    'kind: Deployment\n',
    'a: b: c',
    'a: 1\na: 2',
    '',
  ]) {
    assert.equal(answerOf(await apply(text)), 'manifest-unusable', text);
  }
  assert.ok(!server.requests.slice(requests).some((line) => line.startsWith('PATCH')));
});

test('a pod of several containers asks for one by name', async (t) => {
  const { server, operations, clearance } = await running(t);
  const spec = {
    containers: [
      { name: 'app', image: 'app:1' },
      { name: 'proxy', image: 'proxy:1' },
    ],
  };
  server.cluster.put(`${APPS}/statefulsets/db`, {
    ...daemonSet('db'),
    kind: 'StatefulSet',
    spec: { ...daemonSet('db').spec, serviceName: 'db', template: { metadata: { labels: { app: 'db' } }, spec } },
  });
  const at = (workload: string) => ({ namespace: NAMESPACE, workload });
  assert.equal((await operations.currentRelease(at('statefulset/db'))).kind, 'unknown');
  assert.deepEqual(await operations.currentRelease(at('statefulset/db#proxy')), { kind: 'seen', value: 'proxy:1' });
  const set = await operations.setRelease(clearance, { ...at('statefulset/db'), release: 'app:2' });
  assert.equal(answerOf(set), 'workload-name-unusable');
  const named = await operations.setRelease(clearance, { ...at('pod/db'), release: 'app:2' });
  assert.equal(answerOf(named), 'workload-name-unusable');
});

test('a chart is carried and compared, never applied; a build of a fleet is not for a cluster', async (t) => {
  const { operations, clearance } = await running(t);
  const apply = (source: Parameters<typeof operations.apply>[1]['source']) =>
    operations.apply(clearance, { namespace: NAMESPACE, source });
  assert.equal(
    answerOf(await apply({ kind: 'chart', chart: 'web', release: 'web', values: {} })),
    'chart-not-rendered',
  );
  assert.equal(
    answerOf(await apply({ kind: 'build', build: `sha256:${'0'.repeat(64)}`, export: 'x' })),
    'source-not-for-cluster',
  );
});

test('the values of a chart are those of its deployed release, and of no other', async (t) => {
  const { server, api } = await running(t);
  const keep = (name: string, chart: string, values: object, at: string): void => {
    const release = { name, version: 3, chart: { metadata: { name: chart, version: '1.2.0' } }, config: values };
    const packed = gzipSync(JSON.stringify(release)).toString('base64');
    server.cluster.put(`/api/v1/namespaces/${NAMESPACE}/secrets/sh.helm.release.v1.${name}.v3`, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: `sh.helm.release.v1.${name}.v3`, namespace: NAMESPACE, labels: { owner: 'helm', status: at } },
      type: 'helm.sh/release.v1',
      data: { release: Buffer.from(packed).toString('base64') },
    });
  };
  keep('shop', 'web', { image: { tag: '2' }, replicas: 3 }, 'deployed');
  keep('shop-old', 'web', { image: { tag: '1' } }, 'superseded');
  keep('cache', 'redis', { size: 1 }, 'deployed');
  const stored = await storedReleaseValues(api, NAMESPACE, 'web');
  assert.deepEqual(stored, {
    kind: 'seen',
    value: { release: 'shop', revision: 3, chartVersion: '1.2.0', values: { image: { tag: '2' }, replicas: 3 } },
  });
  assert.deepEqual(
    valueDrift({ image: { tag: '3' }, replicas: 3 }, { image: { tag: '2' }, replicas: 3, extra: true }),
    ['extra', 'image.tag'],
  );
  assert.deepEqual(await storedReleaseValues(api, NAMESPACE, 'absent'), { kind: 'absent' });
  keep('shop-two', 'web', {}, 'deployed');
  assert.equal((await storedReleaseValues(api, NAMESPACE, 'web')).kind, 'unknown');
});

/** Looks again each time the event loop comes round. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}
