import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { digestBytes } from '@idunn/kernel';
import { releaseDirectory } from '@idunn/release';
import { temporary } from '../git/testing/repository.ts';
import {
  appRepository,
  BUILD,
  bench,
  bindingText,
  never,
  RECIPE,
  refusalOf,
  silent,
  valueOf,
} from '../runner/testing/fleet.ts';
import { openRegistry, type Registry } from './testing/registry.ts';

const FETCHING = RECIPE.replace(
  'programs = ["node"]',
  'programs = ["node"]\nnetwork = "registries"\nlockfile = "package-lock.json"',
);

const fetching = (url: string): string => `
require('node:http').get({ host: '127.0.0.1', port: 3128, path: '${url}' }, (answer) => {
  console.log(answer.statusCode);
  answer.resume();
});`;

async function app(context: TestContext, registry: Registry, recipe = FETCHING) {
  const { repository } = await appRepository(join(await temporary(context), 'origin'));
  await repository.write('deployment/idunn/recipe.toml', recipe);
  await repository.write('build.cjs', `${BUILD}\n${fetching(`${registry.url}/greeting.tgz`)}`);
  await repository.write('package-lock.json', registry.lockfile);
  const first = await repository.commit('fetches');
  const binding = (more: string): string =>
    bindingText(repository.path, first).replace('kind = "host-native"', `kind = "bubblewrap"\n${more}`);
  const admitted = `${binding('network = "registries"')}
[network.registries]
hosts = ["localhost:${registry.port}"]
`;
  return { repository, binding, admitted };
}

test('what is fetched comes from admitted places under a lockfile, and provenance tells both', async (context) => {
  const registry = await openRegistry(context, 'http');
  const { admitted, repository } = await app(context, registry);
  const { release, fleet } = await bench(context, { bindings: { app: admitted } });
  const { plan } = valueOf(await release.plan({ target: 'app' }, never()));
  assert.deepEqual(plan.runners['build'], {
    kind: 'bubblewrap',
    allowedPrograms: { node: process.execPath },
    environment: {},
    lockfile: 'package-lock.json',
    mounts: [],
    limits: { memoryBytes: null, processes: null, cpuMillis: null },
    network: {
      name: 'registries',
      hosts: [{ host: 'localhost', port: registry.port }],
      connections: 32,
      maxBytes: 4_294_967_296,
    },
  });
  const sealed = valueOf(await release.seal(plan, never(), silent));
  assert.deepEqual(registry.asked, ['GET /greeting.tgz']);
  const root = releaseDirectory(fleet.directories.releases, sealed.release);
  assert.equal(await readFile(join(root, 'server/bin/server.js'), 'utf8'), 'console.log("one")\n');
  const envelope = JSON.parse(await readFile(join(root, 'provenance.json'), 'utf8')) as { payload: string };
  const { predicate } = JSON.parse(Buffer.from(envelope.payload, 'base64').toString()) as {
    predicate: {
      buildDefinition: { resolvedDependencies: unknown[] };
      runDetails: { byproducts: unknown[] };
    };
  };
  const digest = { sha256: digestBytes(registry.lockfile).slice('sha256:'.length) };
  assert.ok(
    predicate.buildDefinition.resolvedDependencies.some(
      (one) => JSON.stringify(one) === JSON.stringify({ digest, name: 'package-lock.json' }),
    ),
    JSON.stringify(predicate.buildDefinition.resolvedDependencies),
  );
  assert.deepEqual(predicate.runDetails.byproducts, [
    { name: 'network of step compile', annotations: { contacted: [`localhost:${registry.port}`] } },
  ]);
  // F1: without the lockfile nothing runs.
  await repository.git('rm', '-q', 'package-lock.json');
  await repository.commit('no lockfile');
  const later = valueOf(await release.plan({ target: 'app' }, never())).plan;
  assert.equal(refusalOf(await release.seal(later, never(), silent)).code, 'lockfile-missing');
  assert.equal(registry.asked.length, 1);
});

test('I11: a network that is not granted is refused; one that nobody asks for is not given', async (context) => {
  const registry = await openRegistry(context, 'http');
  const { binding, admitted } = await app(context, registry);
  const without = await bench(context, { bindings: { app: binding('') } });
  const refusal = refusalOf(await without.release.plan({ target: 'app' }, never()));
  const { faults } = refusal.detail as { faults: { message: string }[] };
  assert.deepEqual(
    faults.map(({ message }) => message),
    ['the recipe asks for the network "registries", runner.build grants no network'],
  );
  const plain = await app(context, registry, RECIPE);
  const unasked = admitted.replace(/origin = .*/, `origin = ${JSON.stringify(plain.repository.path)}`);
  const minimum = /minimum_revision = .*/;
  const bound = unasked.replace(minimum, minimum.exec(plain.admitted)?.[0] ?? '');
  const { release } = await bench(context, { bindings: { app: bound } });
  const { plan } = valueOf(await release.plan({ target: 'app' }, never()));
  const grant = plan.runners['build'];
  assert.equal(grant?.kind === 'bubblewrap' ? grant.network : undefined, null);
  assert.equal(refusalOf(await release.seal(plan, never(), silent)).code, 'step-failed');
  assert.deepEqual(registry.asked, []);
});
