import assert from 'node:assert/strict';
import { registerHooks } from 'node:module';
import { test } from 'node:test';
import { systemTimers } from '@idunn/kernel';

test('no client of a cluster is loaded until one is connected to', async () => {
  const loaded: string[] = [];
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      loaded.push(specifier);
      return next(specifier, context);
    },
  });
  const isClient = (specifier: string): boolean => specifier.startsWith('@kubernetes/');
  try {
    await import('../index.ts');
    const { connectCluster } = await import('./index.ts');
    assert.ok(loaded.length > 0);
    assert.deepEqual(loaded.filter(isClient), []);
    const connected = await connectCluster({ kubeconfig: 'not: a kubeconfig', timers: systemTimers });
    assert.equal(!connected.ok && connected.refusal.code, 'kubeconfig-unusable');
    assert.deepEqual(loaded.filter(isClient).slice(0, 1), ['@kubernetes/client-node']);
  } finally {
    hooks.deregister();
  }
});

test('a client that is not installed is said, with what to do', async () => {
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      if (specifier.startsWith('@kubernetes/')) throw new Error('not found');
      return next(specifier, context);
    },
  });
  try {
    const { connectCluster } = await import('./connect.ts');
    const connected = await connectCluster({ kubeconfig: '{}', timers: systemTimers });
    assert.equal(!connected.ok && connected.refusal.code, 'cluster-client-missing');
  } finally {
    hooks.deregister();
  }
});
