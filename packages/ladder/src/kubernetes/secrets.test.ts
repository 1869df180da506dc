import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemTimers } from '@idunn/kernel';

import { connectCluster } from './index.ts';
import { operated, ownCluster } from './testing/clusters.ts';
import { status } from './testing/status.ts';

const SECRET = `apiVersion: v1
kind: Secret
metadata: { name: mail }
stringData: { password: hunter2 }
`;

test('F30: no refusal about a Secret quotes what is in it', async (t) => {
  const cluster = await ownCluster();
  t.after(() => cluster.close());
  const { operations, clearance } = await operated(cluster);
  const refused = async (...documents: string[]): Promise<string> => {
    const source = { kind: 'manifests', documents } as const;
    const applied = await operations.apply(clearance, { namespace: cluster.namespace, source });
    assert.ok(!applied.ok);
    return JSON.stringify(applied.refusal);
  };
  const broken = await refused(SECRET.replace('hunter2 }', 'hunter2'));
  assert.match(broken, /Document 1 is no YAML at line \d+, column \d+: [A-Z_]+\./);
  for (const text of [broken, await refused(SECRET.replace('hunter2', '"hunter2" hunter2'))]) {
    assert.ok(!text.includes('hunter2'), text);
  }
  cluster.server.meddle = ({ method, path }) => {
    if (method !== 'PATCH' || !path.endsWith('/secrets/mail')) return null;
    return status(422, 'Invalid', 'Secret "mail" is invalid: stringData.password: Invalid value: "hunter2"');
  };
  const invalid = await refused(SECRET);
  assert.match(invalid, /secrets\/mail: status 422, Invalid/);
  assert.ok(!invalid.includes('hunter2'));
});

test('F30: no refusal about a kubeconfig quotes the tokens of it', async () => {
  const refused = async (kubeconfig: string): Promise<string> => {
    const connected = await connectCluster({ kubeconfig, timers: systemTimers });
    assert.ok(!connected.ok && connected.refusal.code === 'kubeconfig-unusable');
    return connected.refusal.reason;
  };
  const torn = await refused('users:\n- user:\n    token: hunter2\n   bad: [\n');
  assert.match(torn, /in line 4\.$/);
  assert.ok(!torn.includes('hunter2'), torn);
  const config = (server: string): string =>
    JSON.stringify({
      clusters: [{ name: 'c', cluster: { server } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      users: [{ name: 'u', user: {} }],
      'current-context': 'c',
    });
  assert.match(await refused(config('https://ada:hunter2@cluster.test')), /credentials in the URL of its server\.$/);
  assert.match(await refused(config('nowhere')), /no URL/);
});

test('nothing in a manifest or a workload’s name leads a path elsewhere', async (t) => {
  const cluster = await ownCluster();
  t.after(() => cluster.close());
  const { operations, clearance } = await operated(cluster);
  const at = { namespace: cluster.namespace };
  for (const document of [
    SECRET.replace('name: mail', 'name: ".."'),
    SECRET.replace('name: mail', 'name: a/b'),
    SECRET.replace('apiVersion: v1', 'apiVersion: v1/../v1'),
    SECRET.replace('apiVersion: v1', 'apiVersion: "v1?x="'),
    'apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Secret, metadata: {name: x}}]',
    SECRET.replace('name: mail', 'generateName: mail-'),
  ]) {
    const applied = await operations.apply(clearance, { ...at, source: { kind: 'manifests', documents: [document] } });
    assert.equal(!applied.ok && applied.refusal.code, 'manifest-unusable', document);
  }
  assert.equal((await operations.currentRelease({ ...at, workload: 'deployment/..' })).kind, 'unknown');
  assert.deepEqual(cluster.server.requests, []);
});
