import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { ApiServer, BROKEN, runControllers } from '@idunn/ladder/testing';
import type { Environment } from '../edge/environment.ts';
import { run } from '../run.ts';
import { stage } from '../testing/stage.ts';

const LADDER = `apiVersion: idunn.ladder/v1
slots:
  - {name: dev, namespace: o-dev, role: dev, guarded: false, promotes_to: [qa]}
  - {name: qa, namespace: o-qa, role: test, guarded: false, promotes_to: [prod], hosts: [qa.example.test]}
  - {name: prod, namespace: o-prod, role: production, guarded: true, hosts: [example.test]}
`;
const WATERMARK = 'watermark: {mark: {table: sale, column: at}, count: [sale]}';
const data = (slot: string, more = ''): string => {
  const place = `kind: sqlite, description: shop, standstill: nothing-runs, path: ${slot}.db, ${WATERMARK}${more}`;
  return `  ${slot}:\n    data: {${place}}\n`;
};
const PLACES = `apiVersion: idunn.places/v1\naudit: audit.log\nslots:\n`;
const OUTBOX = ', neutralise: [{what: outbox, statement: DELETE FROM outbox}]';

/** A directory with a ladder, and the command run in it. */
async function bench(t: TestContext, places: string | null) {
  const { fleet, out, err, environment } = await stage(t, {});
  writeFileSync(join(fleet, 'ladder.yaml'), LADDER);
  if (places !== null) writeFileSync(join(fleet, 'places.yaml'), places);
  const idunn = async (words: string, change: Partial<Environment> = {}) => {
    out.length = 0;
    err.length = 0;
    const code = await run(environment(words.split(' '), change));
    return { code, out: out.join(''), err: err.join('') };
  };
  const audit = (): string[] =>
    readFileSync(join(fleet, 'audit.log'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { what: string; outcome: string })
      .map(({ what, outcome }) => `${what}: ${outcome}`);
  return { fleet, idunn, audit };
}

function shop(file: string, sales: number): void {
  const database = new DatabaseSync(file);
  database.exec('CREATE TABLE sale(at TEXT); CREATE TABLE outbox(mail TEXT)');
  for (let index = 1; index <= sales; index += 1) {
    database.prepare('INSERT INTO sale VALUES (?)').run(`2026-11-30T00:00:0${index}Z`);
    database.exec("INSERT INTO outbox VALUES ('mail')");
  }
  database.close();
}

function counts(file: string): { sale: number; outbox: number } {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const count = (table: string): number =>
      Number(database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.['n']);
    return { sale: count('sale'), outbox: count('outbox') };
  } finally {
    database.close();
  }
}

test('check, show and graph say what the files come to; every mistake is shown at once', async (t) => {
  const { fleet, idunn } = await bench(t, PLACES + data('qa'));
  assert.match((await idunn('ladder check')).out, /3 slots; guarded: prod\.\nThere is no baseline/);
  assert.match((await idunn('ladder show')).out, /2 {5}prod {2}production {3}guarded/);
  const graph = JSON.parse((await idunn('ladder graph --json')).out) as {
    apiVersion: string;
    nodes: { name: string }[];
  };
  assert.equal(graph.apiVersion, 'idunn.topology/v1');
  assert.deepEqual(
    graph.nodes.map(({ name }) => name),
    ['dev', 'qa', 'prod'],
  );
  writeFileSync(
    join(fleet, 'places.yaml'),
    'apiVersion: idunn.places/v1\nslots: {dev: {runs: {kind: docker}}, x: 1}\nuadit: a\n',
  );
  const wrong = await idunn('ladder check');
  assert.equal(wrong.code, 3);
  for (const said of ['audit must be given', 'uadit is no field', 'slots.dev.runs', 'slots.x']) {
    assert.ok(wrong.err.includes(said), `${said} in ${wrong.err}`);
  }
  writeFileSync(join(fleet, 'places.yaml'), `${PLACES}  staging: {}\n`);
  assert.match((await idunn('ladder check')).err, /the ladder has no slot staging; it has dev, qa, prod/);
});

test('a baseline cannot be lowered by the ladder file', async (t) => {
  const { fleet, idunn } = await bench(t, `${PLACES.replace('slots', 'baseline: floor.yaml\nslots')}  qa: {}\n`);
  writeFileSync(join(fleet, 'floor.yaml'), LADDER);
  assert.match((await idunn('ladder check')).out, /The baseline holds the guard up/);
  writeFileSync(
    join(fleet, 'ladder.yaml'),
    LADDER.replace('role: production, guarded: true', 'role: test, guarded: false'),
  );
  const lowered = await idunn('ladder check --json');
  assert.equal(lowered.code, 3);
  assert.equal(JSON.parse(lowered.out).refusal.code, 'guard-demotion');
});

test('a dry run prints the plan, and reads and changes nothing', async (t) => {
  const { fleet, idunn } = await bench(t, PLACES + data('prod') + data('qa'));
  for (const words of [
    'ladder copy prod qa --dry-run',
    'ladder promote dev qa --workload deployment/web --dry-run',
    'ladder rollout qa --workload deployment/web --release web:2 --dry-run',
    'ladder sleep qa --dry-run',
    'ladder wake qa --dry-run',
    'ladder switch qa qa-20261130-0000 --host qa.example.test --service web --port 80 --dry-run',
    'ladder raise qa --manifests . --host qa.example.test --service web --port 80 --dry-run',
    'bundle seal prod x.tar.zst --dry-run',
  ]) {
    const planned = await idunn(words);
    assert.deepEqual([planned.code, planned.err], [0, ''], words);
    assert.match(planned.out, /^1\. /, words);
  }
  assert.ok(!existsSync(join(fleet, 'prod.db')) && !existsSync(join(fleet, 'x.tar.zst')));
  assert.equal(existsSync(join(fleet, 'audit.log')) && readFileSync(join(fleet, 'audit.log'), 'utf8') !== '', false);
});

test('data is copied down, what would act on the world is taken out, and newer data asks for its name', async (t) => {
  const { fleet, idunn, audit } = await bench(t, PLACES + data('prod') + data('qa', OUTBOX));
  shop(join(fleet, 'prod.db'), 3);
  shop(join(fleet, 'qa.db'), 5);
  assert.match((await idunn('ladder compare prod qa')).out, /qa holds newer data/);
  const refused = await idunn('ladder copy prod qa');
  assert.equal(refused.code, 3);
  assert.match(refused.err, /add: --confirm qa/);
  assert.equal((await idunn('ladder copy prod qa', { ask: async () => 'prod' })).code, 3);
  assert.deepEqual(counts(join(fleet, 'qa.db')), { sale: 5, outbox: 5 });
  const copied = await idunn('ladder copy prod qa', { ask: async () => 'qa\n' });
  assert.equal(copied.code, 0, copied.err);
  assert.match(copied.out, /copied: qa holds the data of prod\.\nneutralised outbox: 3 rows/);
  assert.deepEqual(counts(join(fleet, 'qa.db')), { sale: 3, outbox: 0 });
  assert.deepEqual(counts(join(fleet, 'prod.db')), { sale: 3, outbox: 3 });
  assert.ok(audit().includes('load the data of o-qa: done'));
});

test('a guarded slot asks for both keys, and data never moves up', async (t) => {
  const { fleet, idunn, audit } = await bench(t, PLACES + data('prod') + data('qa'));
  shop(join(fleet, 'prod.db'), 1);
  shop(join(fleet, 'qa.db'), 1);
  const sleep = await idunn('ladder sleep prod');
  assert.deepEqual([sleep.code, /guard-key-missing/.test(sleep.err)], [3, true]);
  const armed = { variable: (name: string) => (name === 'IDUNN_ALLOW_GUARDED' ? '1' : undefined) };
  const half = await idunn('ladder sleep prod', armed);
  assert.match(half.err, /--allow-guarded/);
  const whole = await idunn('ladder sleep prod --allow-guarded', armed);
  assert.match(whole.err, /place-missing/);
  const up = await idunn('ladder copy qa prod --allow-guarded', armed);
  assert.deepEqual([up.code, /hop-wrong-direction/.test(up.err)], [3, true]);
  assert.deepEqual(audit().slice(0, 2), ['change: refused', 'change: refused']);
});

test('without a places file nothing is changed, because nothing could be written down', async (t) => {
  const { idunn } = await bench(t, null);
  const slept = await idunn('ladder sleep qa');
  assert.deepEqual([slept.code, /place-missing/.test(slept.err)], [3, true]);
});

test('a bundle is sealed, shown, verified and unsealed; a flipped byte is told from a partial capture', async (t) => {
  const { fleet, idunn } = await bench(t, PLACES + data('prod') + data('qa'));
  shop(join(fleet, 'prod.db'), 2);
  assert.match((await idunn('bundle seal prod b.tar.zst')).out, /^sealed: .* complete\.\n$/);
  assert.match((await idunn('bundle show b.tar.zst')).out, /shop of prod, taken 2026/);
  assert.equal((await idunn('bundle verify b.tar.zst')).code, 0);
  assert.equal((await idunn('bundle unseal b.tar.zst out')).code, 0);
  assert.deepEqual(counts(join(fleet, 'out', 'database.sqlite')), { sale: 2, outbox: 2 });
  assert.equal((await idunn('bundle seal prod b.tar.zst')).code, 3, 'nothing is overwritten');
  const bytes = readFileSync(join(fleet, 'b.tar.zst'));
  const middle = Math.floor(bytes.length / 2);
  bytes[middle] = (bytes[middle] ?? 0) ^ 1;
  writeFileSync(join(fleet, 'b.tar.zst'), bytes);
  const corrupt = await idunn('bundle verify b.tar.zst');
  assert.deepEqual([corrupt.code, /NOT INTACT/.test(corrupt.out)], [1, true]);
  assert.equal((await idunn('bundle unseal b.tar.zst again')).code, 3);
  assert.ok(!existsSync(join(fleet, 'again')));
  const partial = await idunn('bundle seal qa partial.tar.zst');
  assert.deepEqual([partial.code, /NOT WHOLE/.test(partial.out)], [1, true]);
  assert.equal((await idunn('bundle unseal partial.tar.zst p')).code, 3);
});

const DEPLOYMENT = (image: string): string => `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: "${image}"}]}}
`;

const ACCESS = `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
`;

test('a slot in a cluster: raised, switched, promoted, rolled back, put to sleep and woken', async (t) => {
  const runs = (slot: string) => `  ${slot}:\n    runs: {kind: kubernetes, kubeconfig: kube.json}\n`;
  const { fleet, idunn, audit } = await bench(t, PLACES + runs('dev') + runs('qa'));
  const server = new ApiServer();
  runControllers(server.cluster);
  await server.start();
  t.after(() => server.close());
  writeFileSync(join(fleet, 'kube.json'), server.kubeconfig());
  for (const [namespace, image] of [
    ['o-dev', 'web:2'],
    ['o-qa', 'web:1'],
  ] as const) {
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments/web`;
    server.cluster.apply(
      path,
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'web', namespace },
        spec: {
          replicas: 2,
          selector: { matchLabels: { app: 'web' } },
          template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image }] } },
        },
      },
      { manager: 'idunn-ladder-manifests', force: true, dryRun: false },
    );
  }
  const promoted = await idunn('ladder promote dev qa --workload deployment/web --deadline 5');
  assert.deepEqual(
    [promoted.code, promoted.out],
    [0, 'promoted: deployment/web in o-qa runs web:2; before, web:1.\n'],
    promoted.err,
  );
  const back = await idunn(`ladder rollout qa --workload deployment/web --release ${BROKEN} --deadline 5`);
  assert.deepEqual([back.code, /^rolled back: .* runs web:2 again\.\n$/.test(back.out)], [6, true], back.out);
  assert.match((await idunn('ladder graph --observe')).out, /green {4}qa .* web:2/);

  await mkdir(join(fleet, 'manifests'));
  writeFileSync(join(fleet, 'manifests', 'release.yaml'), DEPLOYMENT('web:3'));
  writeFileSync(join(fleet, 'manifests', 'access.yaml'), ACCESS);
  const route = '--host qa.example.test --service web --port 80';
  const changes = (): string[] => server.requests.filter((line) => line.startsWith('PATCH'));
  const before = changes().length;
  await mkdir(join(fleet, 'empty'));
  await mkdir(join(fleet, 'misspelt'));
  writeFileSync(join(fleet, 'misspelt', 'relase.yaml'), DEPLOYMENT('web:3'));
  for (const [directory, said] of [
    ['nowhere', /ladder-file-unreadable/],
    ['empty', /holds no release.yaml/],
    ['misspelt', /relase.yaml is no phase; there are access.yaml, tls.yaml/],
  ] as const) {
    assert.match((await idunn(`ladder raise qa --manifests ${directory} ${route} --deadline 5`)).err, said);
  }
  assert.match((await idunn(`ladder switch qa qa-20200101-0000 ${route} --deadline 5`)).err, /generation-empty/);
  assert.equal(changes().length, before, 'the host never leads to where nothing runs');
  const raised = await idunn(`ladder raise qa --manifests manifests ${route} --deadline 5`);
  assert.equal(raised.code, 0, raised.err);
  assert.match(raised.err, /tls: no tls.yaml, passed over/);
  const generation = 'qa-20261130-0001';
  const applied = changes().filter((line) => !line.includes('?'));
  const [access, namespace] = ['/roles/reader', `/namespaces/${generation}`].map((end) =>
    applied.findIndex((line) => line.endsWith(end)),
  );
  assert.ok(
    namespace !== undefined && access !== undefined && namespace >= 0 && namespace < access,
    applied.join('\n'),
  );
  const shown = await idunn('ladder generations qa');
  assert.match(shown.out, new RegExp(`${generation} .* qa.example.test`));
  assert.match((await idunn(`ladder sleep qa --namespace ${generation} --deadline 5`)).err, /generation-live/);
  const switched = await idunn(`ladder switch qa o-qa ${route} --deadline 5`);
  assert.equal(switched.code, 0, switched.err);
  assert.equal((await idunn(`ladder sleep qa --namespace ${generation} --deadline 5`)).code, 0);
  assert.equal((await idunn(`ladder wake qa --namespace ${generation} --deadline 5`)).code, 0);
  assert.deepEqual(server.faults, []);
  assert.ok(audit().includes(`dropRoute ${generation}: done`));
});

test('a dry run of what the ladder refuses is refused, and one that asks for keys says so', async (t) => {
  const { idunn } = await bench(t, PLACES + data('prod') + data('qa'));
  assert.match((await idunn('ladder copy qa prod --dry-run')).err, /hop-wrong-direction/);
  assert.match((await idunn('ladder copy prod dev --dry-run')).err, /hop-skips-rungs/);
  assert.equal((await idunn('ladder copy prod dev --dry-run --allow-skip')).code, 0);
  const down = await idunn('ladder promote prod qa --workload deployment/web --dry-run');
  assert.deepEqual([down.code, /hop-wrong-direction/.test(down.err)], [3, true]);
  const keys = await idunn('ladder sleep prod --dry-run --json');
  assert.deepEqual([keys.code, JSON.parse(keys.out).refusal], [0, 'guard-key-missing']);
  assert.match(keys.err, /^This would be refused: .*--allow-guarded and IDUNN_ALLOW_GUARDED=1/);
});

test('two slots never have their data in one place, also by another name of it', async (t) => {
  const { fleet, idunn } = await bench(t, PLACES + data('prod') + data('qa').replace('qa.db', 'other/prod.db'));
  const checked = async (): Promise<string> => (await idunn('ladder check')).err;
  assert.equal(await checked(), '');
  symlinkSync(fleet, join(fleet, 'other'));
  assert.match(await checked(), /places.yaml:7:5 qa has its data where prod has its own \[data-shared\]/);
  const files = (path: string) => `{data: {kind: directory, description: x, standstill: nothing-runs, path: ${path}}}`;
  const base = (name: string) =>
    `{data: {kind: postgres, description: x, standstill: nothing-runs, host: DB, user: u, database: ${name}}}`;
  for (const [prod, qa, shared] of [
    [files('a'), files('a/b'), true],
    [files('a'), files('a.previous'), true],
    [files('a'), files('ab'), false],
    [base('shop'), base('shop').replace('DB', 'db'), true],
    [base('shop'), base('shop_incoming'), true],
    [base('shop'), base('shop_qa'), false],
  ] as const) {
    writeFileSync(join(fleet, 'places.yaml'), `${PLACES}  prod: ${prod}\n  qa: ${qa}\n`);
    assert.equal(/data-shared/.test(await checked()), shared, `${prod} and ${qa}`);
  }
});

test('what was written while a person made up their mind is not lost unseen', async (t) => {
  const { fleet, idunn } = await bench(t, PLACES + data('prod') + data('qa', OUTBOX));
  shop(join(fleet, 'prod.db'), 3);
  shop(join(fleet, 'qa.db'), 5);
  const ask = async (): Promise<string> => {
    const database = new DatabaseSync(join(fleet, 'qa.db'));
    database.exec("INSERT INTO sale VALUES ('2026-11-30T00:00:09Z')");
    database.close();
    return 'qa';
  };
  const copied = await idunn('ladder copy prod qa', { ask });
  assert.equal(copied.code, 3, copied.out);
  assert.match(copied.err, /discard-not-confirmed: qa changed while the copy was made: .*00:09Z/);
  assert.equal(counts(join(fleet, 'qa.db')).sale, 6);
});

test('whoever interrupts a copy leaves nothing of it behind', async (t) => {
  const { fleet, idunn } = await bench(t, PLACES + data('prod') + data('qa', OUTBOX));
  shop(join(fleet, 'prod.db'), 3);
  shop(join(fleet, 'qa.db'), 5);
  await mkdir(join(fleet, 'scratch'));
  const ended = Promise.withResolvers<readonly string[]>();
  let interrupt = (): void => assert.fail('nobody listens');
  const copied = await idunn('ladder copy prod qa --scratch scratch', {
    onInterrupt(fire) {
      interrupt = fire;
      return () => undefined;
    },
    endInterrupted: () => ended.resolve(readdirSync(join(fleet, 'scratch'))),
    async ask() {
      assert.equal(readdirSync(join(fleet, 'scratch')).length, 1);
      interrupt();
      assert.deepEqual(await ended.promise, []);
      return null;
    },
  });
  assert.equal(copied.code, 3);
});

test('F28: a log that cannot be written changes nothing, and whoever only reads needs none', async (t) => {
  const { fleet, idunn } = await bench(t, `${PLACES}  qa: {}\n`.replace('audit.log', 'nowhere/audit.log'));
  assert.equal((await idunn('ladder show')).code, 0);
  assert.match((await idunn('ladder wake qa')).err, /audit-unwritable: .*nowhere\/audit.log/);
  assert.ok(!existsSync(join(fleet, 'nowhere')));
});
