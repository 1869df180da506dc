import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { systemClock, systemTimers } from '@idunn/kernel';
import { createGuard, createRegistry, NO_KEYS, type PlanStep, runPlan, type Slot, switchPlan } from '@idunn/ladder';
import { connectCluster, kubernetesOperations } from '@idunn/ladder/kubernetes';
import { ApiServer, runControllers } from '@idunn/ladder/testing';
import { endFleet } from '../scripts/lib/end-fleet.mjs';
import type { Fleet } from '../tests/e2e/lib/fleet.ts';
import { authorizerOf, builderOf, buildOf, STAMP, takesFrom } from '../tests/e2e/lib/ladder.ts';
import { claim, type Proof } from './lib/proof.ts';
import { withFleet } from './lib/stage.ts';

const PRODUCTION_EVENTS = 40;
const QA_EVENTS = 5;

export const proof: Proof = {
  name: 'ladder-fleets',
  promise: 'The same bytes climb a ladder of fleets, data comes down neutralised, and a host switches over and back.',
  run: ({ note }) => {
    // The second key; the first is said with the command.
    process.env['IDUNN_ALLOW_GUARDED'] = '1';
    return withFleet((dev) => withFleet((qa) => withFleet((production) => climb({ dev, qa, production }, note))));
  },
};

interface Fleets {
  readonly dev: Fleet;
  readonly qa: Fleet;
  readonly production: Fleet;
}

async function climb({ dev, qa, production }: Fleets, note: (text: string) => void): ReturnType<Proof['run']> {
  await dev.edit('deployment/idunn/recipe.toml', (text) => text.replace('[[artifact]]', `${STAMP}\n[[artifact]]`));
  await dev.daemon();
  const built = await dev.up('ghostlight');
  const ladder = await ladderOver({ dev, qa, production });
  const idunn = (words: string, ...more: string[]) =>
    dev.idunn('ladder', ...words.split(' '), ...more, '--ladder', ladder);

  note('promoting dev to qa, and qa to production');
  const promoted = [];
  for (const way of ['dev qa', 'qa production']) {
    promoted.push(await idunn(`promote ${way} --workload ghostlight --deadline 60 --allow-guarded`));
  }
  const unkeyed = await idunn('promote qa production --workload ghostlight --deadline 60');
  const builds = [await buildOf(dev), await buildOf(qa), await buildOf(production)];

  note('writing, and copying production down to qa');
  const wrote = (await post(production, PRODUCTION_EVENTS)) + (await post(qa, QA_EVENTS));
  outbox(production);
  await standstill(qa);
  const asked = await idunn('copy production qa');
  const copied = await idunn('copy production qa', '--confirm', 'qa');
  const down = counts(qa);
  await qa.daemon();
  const again = await qa.up('ghostlight');
  const read = await events(qa);

  note('switching a host between generations of a cluster, and back');
  const hosts = await switchAndBack();
  const outcomes = promoted.map(({ code, err }) => `${code} ${err.split('\n').at(-2) ?? ''}`);
  return {
    figures: { deploys: 1 + promoted.length, acked: wrote, copied: read, outbox: down.outbox, outcomes, hosts },
    claims: [
      claim('the build was admitted where it was made', built.code === 0),
      claim(
        'it was promoted to qa and to production',
        promoted.every(({ code }) => code === 0),
      ),
      claim('all three run one build, though building again comes to another', new Set(builds).size === 1),
      claim('production asks for the first key', unkeyed.code === 3 && unkeyed.err.includes('guard-key-missing')),
      claim('every write was acknowledged', wrote === PRODUCTION_EVENTS + QA_EVENTS),
      claim('newer data of qa asks for its name', asked.code === 3 && asked.err.includes('--confirm qa')),
      claim('the copy was loaded', copied.code === 0),
      claim('qa serves the events of production and none of its own', again.code === 0 && read === PRODUCTION_EVENTS),
      claim('its outbox is empty, and that of production is not', down.outbox === 0 && counts(production).outbox === 3),
      claim('the host led to the new generation, and back', hosts.join() === `shop,${GENERATION},shop`),
    ],
  };
}

async function ladderOver({ dev, qa, production }: Fleets): Promise<string> {
  const places: string[] = [`  dev: {runs: {kind: idunn, fleet: ${dev.directory}}}`];
  for (const [name, fleet, lower] of [
    ['qa', qa, dev],
    ['production', production, qa],
  ] as const) {
    const authorizer = await authorizerOf(fleet);
    await takesFrom(fleet, dev, authorizer.publicKey, [await builderOf(lower)]);
    await fleet.daemon();
    places.push(
      `  ${name}:`,
      `    runs: {kind: idunn, fleet: ${fleet.directory}, authorizer: ${authorizer.file}}`,
      `    data: {kind: sqlite, description: the world, standstill: nothing-runs, path: ${journal(fleet)},`,
      '      watermark: {count: [events]}, neutralise: [{what: outbox, statement: DELETE FROM outbox}]}',
    );
  }
  const slot = (name: string, { id }: Fleet, more: string): string => `  - {name: ${name}, namespace: ${id}, ${more}}`;
  const slots = [
    slot('dev', dev, 'role: dev, guarded: false, promotes_to: [qa]'),
    slot('qa', qa, 'role: qa, guarded: false, promotes_to: [production]'),
    slot('production', production, 'role: production, guarded: true'),
  ];
  const ladder = join(dev.work, 'ladder.yaml');
  await writeFile(ladder, ['apiVersion: idunn.ladder/v1', 'slots:', ...slots, ''].join('\n'));
  const file = ['apiVersion: idunn.places/v1', 'audit: audit.log', 'slots:', ...places, ''];
  await writeFile(join(dev.work, 'places.yaml'), file.join('\n'));
  return ladder;
}

const journal = (fleet: Fleet): string => join(fleet.work, 'world/journal.db');

async function post(fleet: Fleet, count: number): Promise<number> {
  let acked = 0;
  for (let index = 0; index < count; index += 1) {
    const answer = await fetch(`${fleet.url}/events`, {
      method: 'POST',
      body: JSON.stringify({ id: `e${index}`, text: 'a light' }),
    });
    await answer.text();
    acked += Number(answer.ok);
  }
  return acked;
}

async function events(fleet: Fleet): Promise<number> {
  const answer = (await (await fetch(`${fleet.url}/events`)).json()) as { readonly events: readonly unknown[] };
  return answer.events.length;
}

/** Mail that waits to be sent, beside the application's own table. */
function outbox(fleet: Fleet): void {
  const database = new DatabaseSync(journal(fleet), { timeout: 5_000 });
  database.exec("CREATE TABLE outbox(mail TEXT); INSERT INTO outbox VALUES ('a'), ('b'), ('c')");
  database.close();
}

function counts(fleet: Fleet): { readonly outbox: number } {
  const database = new DatabaseSync(journal(fleet), { readOnly: true });
  try {
    return { outbox: Number(database.prepare('SELECT count(*) AS n FROM outbox').get()?.['n']) };
  } finally {
    database.close();
  }
}

/** Everything that the fleet runs has ended: nothing writes while its data is replaced. */
const standstill = (fleet: Fleet): Promise<unknown> =>
  endFleet({ fleet: fleet.directory, runtime: fleet.runtime, graceMs: 5_000 });

const GENERATION = 'shop-20261130-0001';

/** Something that runs: no host is led to where nothing does. */
function deploymentIn(namespace: string): Parameters<ApiServer['cluster']['apply']> {
  const labels = { app: 'web' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } };
  return [
    `/apis/apps/v1/namespaces/${namespace}/deployments/web`,
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace },
      spec: { replicas: 1, selector: { matchLabels: labels }, template },
    },
    { manager: 'proof', force: true, dryRun: false },
  ];
}

/** One host over two namespaces of the tests' own API server: where it led, in order. */
async function switchAndBack(): Promise<string[]> {
  const server = new ApiServer();
  runControllers(server.cluster);
  await server.start();
  try {
    for (const namespace of ['shop', GENERATION]) server.cluster.apply(...deploymentIn(namespace));
    const api = await connectCluster({ kubeconfig: server.kubeconfig(), timers: systemTimers });
    if (!api.ok) throw new Error(api.refusal.reason);
    const operations = kubernetesOperations({ api: api.value, clock: systemClock(), timers: systemTimers });
    const slot: Slot = {
      name: 'shop',
      namespace: 'shop',
      hosts: ['shop.example.test'],
      role: 'test',
      guarded: false,
      promotes_to: [],
    };
    const registry = createRegistry([slot]);
    if (!registry.ok) throw new Error(registry.refusal.reason);
    const trail = { append: async (draft: object) => ({ ok: true, value: draft }) as never };
    const auditing = { trail, who: { actor: 'proof', tenant: 'local', from: 'proof' }, clock: systemClock() };
    const clearance = await createGuard({ registry: registry.value, keys: NO_KEYS, auditing }).clear({ slot: 'shop' });
    if (!clearance.ok) throw new Error(clearance.refusal.reason);
    const route = { host: 'shop.example.test', service: 'web', port: 80, tls: null };
    const led: string[] = [];
    for (const [from, to] of [
      [null, 'shop'],
      ['shop', GENERATION],
      [GENERATION, 'shop'],
    ] as const) {
      const plan = switchPlan(slot, { from, to, route });
      const steps: readonly PlanStep[] = plan.ok ? plan.value : [];
      const ran = await runPlan(operations, clearance.value, steps, { stepDeadlineMs: 5_000 });
      const owner = await operations.hostOwner(route.host);
      led.push(ran.ok && owner.kind === 'seen' ? owner.value : 'nowhere');
    }
    return server.faults.length === 0 ? led : server.faults;
  } finally {
    await server.close();
  }
}
