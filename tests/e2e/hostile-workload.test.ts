import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { addAttended } from './lib/attended.ts';
import { type Fleet, makeFleet } from './lib/fleet.ts';
import { IS_ROOT, OWN_USERS, separate } from './lib/users.ts';
import { json, type VersionAnswer } from './lib/world.ts';

const NODE = realpathSync(process.execPath);
const ATTACKS = new URL('./lib/attacks.mjs', import.meta.url);

/** Another target, with a secret of its own. */
const OTHER = `import { createServer } from 'node:http';
createServer((_, response) => response.end('here')).listen(Number(process.argv[2]), '127.0.0.1');`;

const placeOf = (activation: string): string => createHash('sha256').update(activation).digest('hex').slice(0, 16);

async function activationOf(fleet: Fleet, target: string): Promise<string> {
  const status = await fleet.client.status();
  assert.ok(status.ok);
  const admitted = status.value.targets.find((one) => one.target === target)?.admitted;
  assert.ok(admitted, `${target} is admitted`);
  return admitted.activation;
}

/** A fleet of two targets; the next version of the first attacks before it has its grant. */
async function attacked(t: TestContext, users: boolean): Promise<Readonly<Record<string, true | string>>> {
  const fleet = await makeFleet(t);
  if (users && !OWN_USERS) await separate(fleet);
  await writeFile(join(fleet.work, 'token'), 'another target’s\n', { mode: 0o600 });
  const port = Number(new URL(fleet.url).port) + 18;
  await addAttended(fleet, {
    target: 'other',
    files: { 'other.mjs': OTHER },
    service:
      'path = "other.mjs"\ninterpreter = "node"\nargs = [{ slot = "endpoint-port" }]\nprotocol = "http"\nrouted = true\nsecrets = ["token"]',
    health: 'kind = "http"\npath = "/"\ninterval_ms = 500\ntimeout_ms = 1000\nfreshness_ms = 30000',
    interpreter: { name: 'node', path: NODE },
    port,
    binding: `\n[secret.token]\nfile = "${join(fleet.work, 'token')}"\n`,
    ...(users ? { user: 'irc' } : {}),
  });
  await fleet.daemon();
  for (const target of ['ghostlight', 'other']) {
    const { code, outcome } = await fleet.up(target);
    assert.equal(code, 0, JSON.stringify(outcome));
  }
  const aims = join(fleet.work, 'aims.json');
  await writeFile(aims, JSON.stringify(await aimsIn(fleet)), { mode: 0o644 });
  const text = (await readFile(ATTACKS, 'utf8')).replace('process.env.AIMS', JSON.stringify(aims));
  await fleet.commit({ 'src/attacks.mjs': `${text}await import('./main.js');\n` });
  await fleet.edit('deployment/idunn/recipe.toml', (recipe) => recipe.replace('src/main.js', 'src/attacks.mjs'));
  const { code, outcome } = await fleet.up('ghostlight');
  assert.equal(code, 0, JSON.stringify(outcome));
  const log = await readFile(logOf(fleet, 'ghostlight', await activationOf(fleet, 'ghostlight')), 'utf8');
  const line = /^attacks (.*)$/m.exec(log)?.[1];
  assert.ok(line, log);
  return JSON.parse(line) as Record<string, true | string>;
}

const logOf = (fleet: Fleet, target: string, activation: string): string =>
  join(fleet.work, 'logs', target, `${activation}.log`);

async function aimsIn(fleet: Fleet): Promise<Readonly<Record<string, string | number>>> {
  const incumbent = await activationOf(fleet, 'ghostlight');
  const other = await activationOf(fleet, 'other');
  const { runtime, work } = fleet;
  return {
    root: join(work, 'world'),
    store: join(work, 'world/journal.db'),
    incumbent: join(runtime, 'a', placeOf(incumbent)),
    activations: join(runtime, 'a'),
    secret: join(runtime, 'a', placeOf(other), 'secrets/token'),
    key: join(runtime, 'own', placeOf(other), 'activation.key'),
    ticket: join(runtime, 'own', placeOf(incumbent), 'ticket.json'),
    pid: (await json<VersionAnswer>(fleet.url, '/version')).pid,
    releases: join(work, 'releases'),
    records: join(work, 'state/records.sqlite'),
    operator: join(runtime, 'operator.sock'),
    router: join(runtime, 'router.sock'),
    attendant: join(runtime, 'attendant.sock'),
    link: join(runtime, 'observer/link.sock'),
    log: logOf(fleet, 'ghostlight', incumbent),
  };
}

test('I1, I2, F30: a hostile candidate with a user of its own gets nowhere', { skip: !IS_ROOT }, async (t) => {
  const through = await attacked(t, true);
  const names = Object.entries(through).flatMap(([name, how]) => (how === true ? [name] : []));
  assert.deepEqual(names, []);
  assert.ok(Object.keys(through).length >= 25);
});

test('the same attempts come through where one user runs everything', { skip: !IS_ROOT || OWN_USERS }, async (t) => {
  const through = await attacked(t, false);
  const kept = Object.entries(through).filter(([, how]) => how !== true);
  assert.deepEqual(kept, []);
});
