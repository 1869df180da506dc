import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { answerOf, valueOf } from '../guard/testing/world.ts';
import { renderRollout, rollout, runPlan } from '../index.ts';
import {
  deploymentText,
  namedCluster,
  namespaceText,
  operated,
  ownCluster,
  type TestCluster,
} from './testing/clusters.ts';

const KUBECONFIG = process.env['KUBECONFIG'];
const NO_CLUSTER = 'KUBECONFIG names no cluster: only the server of the tests was asked';

suite('the server of the tests', ownCluster);
suite('the cluster of KUBECONFIG', () => namedCluster(KUBECONFIG ?? ''), KUBECONFIG ? false : NO_CLUSTER);

/** One suite for every cluster: what holds on the server of the tests must hold on a real one. */
function suite(what: string, open: () => Promise<TestCluster>, skip: string | false = false): void {
  test(`release operations over ${what}`, { skip }, async (t) => {
    const cluster = await open();
    after(() => cluster.close());
    const { namespace, images, deadlineMs, brokenMs } = cluster;
    const { operations, clearance } = await operated(cluster);
    const web = { namespace, workload: 'deployment/web' };
    const manifests = (...documents: string[]) => ({ namespace, source: { kind: 'manifests' as const, documents } });

    await t.test('manifests are applied by the server, and applying them again changes nothing', async () => {
      const documents = [namespaceText(namespace), deploymentText('web', images.first)];
      // A real server tries an object in a namespace only once the namespace is there.
      valueOf(await operations.apply(clearance, manifests(namespaceText(namespace))));
      valueOf(await operations.apply(clearance, manifests(...documents)));
      valueOf(await operations.apply(clearance, manifests(...documents)));
      assert.equal((await operations.awaitRollout({ ...web, deadlineMs }, () => {})).kind, 'ready');
      assert.deepEqual(valueOf(await operations.workloads({ namespace })), [
        { name: 'deployment/web', release: images.first, replicas: 2 },
      ]);
      assert.ok(valueOf(await operations.namespaces()).includes(namespace));
    });

    await t.test('a rollout is promoted, and what ran before is told', async () => {
      const plan = { ...web, release: images.second, deadlineMs };
      assert.match(renderRollout(plan), /deployment\/web/);
      const end = valueOf(await rollout(operations, clearance, plan));
      assert.deepEqual(end, { kind: 'promoted', from: images.first, to: images.second });
      assert.deepEqual(await operations.currentRelease(web), { kind: 'seen', value: images.second });
    });

    await t.test('F19: a rollout that fails is rolled back, and what runs then is what ran before', async () => {
      const plan = { ...web, release: images.broken, deadlineMs: brokenMs };
      const end = valueOf(await rollout(operations, clearance, plan));
      assert.equal(end.kind, 'rolled-back', JSON.stringify(end));
      assert.deepEqual(await operations.currentRelease(web), { kind: 'seen', value: images.second });
    });

    await t.test('what is not there is absent, and a namespace without it holds nothing', async () => {
      assert.deepEqual(await operations.currentRelease({ namespace, workload: 'deployment/none' }), { kind: 'absent' });
      const set = await operations.setRelease(clearance, { namespace, workload: 'deployment/none', release: 'x:1' });
      assert.equal(answerOf(set), 'cluster-object-absent');
    });

    await t.test('a namespace sleeps, and wakes to what it was', async () => {
      valueOf(await operations.sleep(clearance, { namespace, deadlineMs }));
      valueOf(await operations.sleep(clearance, { namespace, deadlineMs }));
      assert.equal(valueOf(await operations.workloads({ namespace }))[0]?.replicas, 0);
      valueOf(await operations.wake(clearance, { namespace, deadlineMs }));
      valueOf(await operations.wake(clearance, { namespace, deadlineMs }));
      assert.equal(valueOf(await operations.workloads({ namespace }))[0]?.replicas, 2);
    });

    await t.test('a host is led to a service, found, and let go', async () => {
      const route = { host: 'qa.example.test', service: 'web', port: 80, tls: 'qa-cert' };
      const steps = [{ kind: 'route-host' as const, namespace, route }];
      valueOf(await runPlan(operations, clearance, steps, { stepDeadlineMs: deadlineMs }));
      assert.deepEqual(await operations.hostOwner('QA.example.test'), { kind: 'seen', value: namespace });
      const drop = { kind: 'drop-route' as const, namespace, host: 'qa.example.test' };
      valueOf(await runPlan(operations, clearance, [drop, drop], { stepDeadlineMs: deadlineMs }));
      assert.deepEqual(await operations.hostOwner('qa.example.test'), { kind: 'absent' });
    });

    await t.test('what the server would refuse is refused before anything is applied', async () => {
      const wrong = deploymentText('wrong', images.first).replace('replicas: 2', 'repliccas: 2');
      const refused = await operations.apply(clearance, manifests(deploymentText('right', images.first), wrong));
      assert.equal(answerOf(refused), 'cluster-request-refused');
      assert.deepEqual(await operations.currentRelease({ namespace, workload: 'deployment/right' }), {
        kind: 'absent',
      });
    });

    if ('server' in cluster)
      assert.deepEqual(
        (cluster as Awaited<ReturnType<typeof ownCluster>>).server.faults.filter(
          (fault) => !fault.includes('repliccas'),
        ),
        [],
      );
  });
}
