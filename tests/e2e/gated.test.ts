import assert from 'node:assert/strict';
import { existsSync, realpathSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { addAttended } from './lib/attended.ts';
import { type Fleet, makeFleet } from './lib/fleet.ts';
import { ask, json } from './lib/world.ts';

const NODE = realpathSync(process.execPath);

/** A service as people write one: SQLite as it comes, a count over HTTP, and nothing of Idunn. */
const service = (version: string, begin = ''): string => `import { createServer } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
const [port, file] = process.argv.slice(2);
${begin}
const database = new DatabaseSync(file);
database.exec('CREATE TABLE IF NOT EXISTS notes (id TEXT PRIMARY KEY, pid INTEGER) STRICT');
const add = database.prepare('INSERT INTO notes VALUES (?, ?)');
createServer((request, response) => {
  const type = { 'content-type': 'application/json' };
  const send = (status, body) => response.writeHead(status, type).end(JSON.stringify(body));
  if (request.method === 'POST') {
    let text = '';
    request.on('data', (chunk) => { text += chunk; });
    request.on('end', () => {
      try {
        add.run(JSON.parse(text).id, process.pid);
        send(200, { pid: process.pid });
      } catch (error) { send(500, { error: String(error) }); }
    });
  } else if (request.url === '/notes') send(200, database.prepare('SELECT id, pid FROM notes').all());
  else send(200, { version: '${version}', pid: process.pid });
}).listen(Number(port), '127.0.0.1', () => console.log('up ${version}'));
process.on('SIGTERM', () => process.exit(0));
`;

interface Version {
  readonly version: string;
  readonly pid: number;
}

/** Writes one note after another until it is stopped; answers what was acknowledged and what failed. */
function writer(url: string): { stop(): Promise<{ acked: readonly string[]; failed: readonly string[] }> } {
  const acked: string[] = [];
  const failed: string[] = [];
  const enough = new AbortController();
  const running = (async () => {
    for (let n = 0; !enough.signal.aborted; n++) {
      const answer = await ask(url, '/notes', { id: `note-${n}` }).catch((error: unknown) => ({
        status: 0,
        body: String(error),
      }));
      if (answer.status === 200) acked.push(`note-${n}`);
      else failed.push(`${answer.status} ${answer.body}`);
    }
  })();
  return {
    async stop() {
      enough.abort();
      await running;
      return { acked, failed };
    },
  };
}

test('an unmodified program with state: gated, rehearsed, and never two at once', async (t) => {
  const fleet: Fleet = await makeFleet(t);
  await fleet.daemon();
  const port = Number(new URL(fleet.url).port) + 18;
  const url = `http://127.0.0.1:${port}`;
  const root = join(fleet.work, 'notes');
  await mkdir(root);
  await addAttended(fleet, {
    target: 'notes',
    files: { 'notes.mjs': service('1') },
    service:
      'path = "notes.mjs"\ninterpreter = "node"\nargs = [{ slot = "endpoint-port" }, { slot = "state-path:notes" }]\nprotocol = "http"\nrouted = true',
    health: 'kind = "http"\npath = "/"\ninterval_ms = 200\ntimeout_ms = 1000\nfreshness_ms = 5000',
    recipe: '\n[state]\nschema = "notes/1"\n\n[[state.store]]\nid = "notes"\nkind = "sqlite"\npath = "notes.db"\n',
    interpreter: { name: 'node', path: NODE },
    port,
    binding: `\n[state]\nroot = "${root}"\n\n[rehearsal]\ntimeout_ms = 10_000\n`,
  });

  await t.test('is admitted, and serves what it writes', async () => {
    const { code, outcome } = await fleet.up('notes');
    assert.equal(code, 0, JSON.stringify(outcome));
    assert.equal((await json<Version>(url, '/')).version, '1');
    assert.deepEqual((await readdir(root)).filter((name) => name.startsWith('.idunn')).toSorted(), [
      '.idunn-claim.json',
      '.idunn-lease',
      '.idunn-lease-shm',
      '.idunn-lease-wal',
    ]);
  });

  await t.test(
    'I1: its next version follows it under load: nothing lost, the old one gone before the new one',
    async () => {
      const before = await json<Version>(url, '/');
      const load = writer(url);
      await fleet.commit({ 'notes/notes.mjs': service('2') });
      const { code, outcome } = await fleet.up('notes');
      const { acked, failed } = await load.stop();
      assert.equal(code, 0, JSON.stringify(outcome));
      const after = await json<Version>(url, '/');
      assert.equal(after.version, '2');
      assert.ok(!existsSync(`/proc/${before.pid}`) || after.pid !== before.pid);
      const kept = await json<{ id: string; pid: number }[]>(url, '/notes');
      assert.equal(new Set(kept.map(({ id }) => id)).size, kept.length);
      const ids = new Set(kept.map(({ id }) => id));
      for (const id of acked) assert.ok(ids.has(id), `${id} was acknowledged`);
      assert.deepEqual([...new Set(kept.map(({ pid }) => pid))], [before.pid, after.pid]);
      t.diagnostic(`${acked.length} written, ${failed.length} failed: ${failed.slice(0, 3).join('; ')}`);
    },
  );

  await t.test(
    'I7: a version that cannot start is refused by its rehearsal; the incumbent is never touched',
    async () => {
      const before = await json<Version>(url, '/');
      const load = writer(`${url}/`);
      await fleet.commit({ 'notes/notes.mjs': service('3', `throw new Error('cannot begin');`) });
      const { code, outcome } = await fleet.up('notes');
      await load.stop();
      assert.equal(code, 5, JSON.stringify(outcome));
      assert.match(JSON.stringify(outcome), /rehearsal-failed/);
      assert.match(JSON.stringify(outcome), /cannot begin/);
      assert.deepEqual(await json<Version>(url, '/'), before);
    },
  );
});
