import assert from 'node:assert/strict';
import { realpathSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { addAttended } from './lib/attended.ts';
import { makeFleet } from './lib/fleet.ts';
import { killIn } from './lib/kill-in.ts';
import { ask, json } from './lib/world.ts';

/** Keeps what it is told, once each time that it is told; no handler of signals, and nothing of Idunn. */
const service = (version: number): string => `import { createServer } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
const [port, file] = process.argv.slice(2);
const database = new DatabaseSync(file);
database.exec('PRAGMA journal_mode = WAL');
database.exec('CREATE TABLE IF NOT EXISTS notes (id TEXT NOT NULL, version INTEGER NOT NULL)');
const add = database.prepare('INSERT INTO notes VALUES (?, ?)');
createServer((request, response) => {
  if (request.url === '/notes') return response.end(JSON.stringify(database.prepare('SELECT * FROM notes').all()));
  if (request.method !== 'POST') return response.end(JSON.stringify({ version: ${version}, pid: process.pid }));
  let text = '';
  request.on('data', (piece) => { text += piece; });
  request.on('end', () => {
    add.run(JSON.parse(text).id, ${version});
    response.end('{}');
  });
}).listen(Number(port), '127.0.0.1');
`;

interface Note {
  readonly id: string;
  readonly version: number;
}

/** Notes without end, each on a connection of its own; those that were acknowledged. */
function writer(url: string): { stop(): Promise<readonly string[]> } {
  const acked: string[] = [];
  const enough = new AbortController();
  const running = (async () => {
    for (let n = 0; !enough.signal.aborted; n++) {
      const answer = await ask(url, '/', { id: `note-${n}` }).catch(() => null);
      if (answer?.status === 200) acked.push(`note-${n}`);
    }
  })();
  return {
    async stop() {
      enough.abort();
      await running;
      return acked;
    },
  };
}

test('F17, I1: a daemon that is killed in a gated handover finishes it, and never runs two programs', async (t) => {
  const fleet = await makeFleet(t);
  let pid = await fleet.daemon();
  const port = Number(new URL(fleet.url).port) + 19;
  const url = `http://127.0.0.1:${port}`;
  const root = join(fleet.work, 'notes');
  await mkdir(root);
  await addAttended(fleet, {
    target: 'notes',
    files: { 'notes.mjs': service(1) },
    service: `path = "notes.mjs"
interpreter = "node"
args = [{ slot = "endpoint-port" }, { slot = "state-path:notes" }]
protocol = "http"
routed = true`,
    health: 'kind = "http"\npath = "/"\ninterval_ms = 200\ntimeout_ms = 1000\nfreshness_ms = 5000',
    recipe: '\n[state]\nschema = "notes/1"\n\n[[state.store]]\nid = "notes"\nkind = "sqlite"\npath = "notes.db"\n',
    interpreter: { name: 'node', path: realpathSync(process.execPath) },
    port,
    binding: `\n[state]\nroot = "${root}"\n`,
  });
  assert.equal((await fleet.up('notes')).code, 0);
  const load = writer(url);
  const phases = ['sealed', 'candidate-started', 'incumbent-fenced', 'write-lease-granted', 'route-published'];
  for (const [index, phase] of phases.entries()) {
    await t.test(phase, async () => {
      const version = index + 2;
      await fleet.commit({ 'notes/notes.mjs': service(version) });
      const operation = `kill-in-${phase}`;
      const transaction = await killIn(fleet, { pid, target: 'notes', phase, operation });
      pid = await fleet.daemon();
      const { code, outcome } = await fleet.up('notes', '--operation-id', operation);
      assert.equal(code, 0, JSON.stringify(outcome));
      assert.equal(outcome.transaction, transaction);
      assert.equal((await json<{ version: number }>(url, '/')).version, version);
    });
  }
  const acked = await load.stop();
  const notes = await json<Note[]>(url, '/notes');
  const kept = Map.groupBy(notes, ({ id }) => id);
  assert.deepEqual(
    acked.filter((id) => kept.get(id)?.length !== 1),
    [],
    'each acknowledged note is kept exactly once',
  );
  // SQLite orders the writes: a program that wrote beside its successor would be seen between two of the later one.
  assert.deepEqual(
    notes.map(({ version }) => version),
    notes.map(({ version }) => version).toSorted((a, b) => a - b),
  );
  assert.ok(acked.length > 50, `${acked.length} notes`);
});
