import { spawn } from 'node:child_process';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import type { AttendedTarget } from '../../tests/e2e/lib/attended.ts';
import { addAttended } from '../../tests/e2e/lib/attended.ts';
import type { Fleet } from '../../tests/e2e/lib/fleet.ts';
import { ask } from '../../tests/e2e/lib/world.ts';

const NODE = realpathSync(process.execPath);
const PYTHON = '/usr/bin/python3';

/** A program that knows nothing of Idunn and keeps entries in a SQLite file; what is told twice it keeps twice. */
export interface WrappedApp {
  readonly target: string;
  readonly interpreter: { readonly name: string; readonly path: string };
  readonly file: string;
  /** The program's text in a version of its own; `atStart` comes before everything else. */
  readonly text: (version: number, atStart?: string) => string;
  /** A first line with which it cannot start. */
  readonly fails: string;
}

/** As people write them: no handler of signals, nothing prepared for a stop. */
const node = (version: number, atStart = ''): string => `import { createServer } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
${atStart}
const { PORT, HOST, DATABASE_PATH } = process.env;
const database = new DatabaseSync(DATABASE_PATH);
database.exec('PRAGMA journal_mode = WAL');
database.exec('CREATE TABLE IF NOT EXISTS entries (seq INTEGER PRIMARY KEY, id TEXT NOT NULL, text TEXT NOT NULL)');
const add = database.prepare('INSERT INTO entries (id, text) VALUES (?, ?)');
createServer((request, response) => {
  const send = (status, value) => response.writeHead(status).end(JSON.stringify(value));
  if (request.method !== 'POST') return send(200, { version: '${version}', pid: process.pid });
  let body = '';
  request.on('data', (piece) => { body += piece; });
  request.on('end', () => {
    const { id, text } = JSON.parse(body);
    send(201, { seq: Number(add.run(id, text).lastInsertRowid), id });
  });
}).listen(Number(PORT), HOST);
`;

const ALMANAC = fileURLToPath(new URL('../../examples/almanac/almanac.py', import.meta.url));

export const APPS: readonly WrappedApp[] = [
  {
    target: 'notes',
    interpreter: { name: 'node', path: NODE },
    file: 'notes.mjs',
    text: node,
    fails: "throw new Error('cannot begin');",
  },
  {
    target: 'almanac',
    interpreter: { name: 'python3', path: existsSync(PYTHON) ? realpathSync(PYTHON) : PYTHON },
    file: 'almanac.py',
    text: (version, atStart = '') =>
      `${atStart}\n${readFileSync(ALMANAC, 'utf8').replace('VERSION = "1.0.0"', `VERSION = "${version}"`)}`,
    fails: "raise SystemExit('cannot begin')",
  },
];

/** Adds the program's first version to the fleet: attended, with state, behind a route on `port`. */
export async function addWrapped(fleet: Fleet, app: WrappedApp, port: number): Promise<{ readonly database: string }> {
  const root = join(fleet.work, `state-${app.target}`);
  await mkdir(root);
  const places =
    'PORT = { slot = "endpoint-port" }\nHOST = "127.0.0.1"\nDATABASE_PATH = { slot = "state-path:entries" }';
  const added: AttendedTarget = {
    target: app.target,
    files: { [app.file]: app.text(1) },
    service: `path = "${app.file}"
interpreter = "${app.interpreter.name}"
required_environment = ["PORT", "HOST", "DATABASE_PATH"]
protocol = "http"
routed = true`,
    health: 'kind = "http"\npath = "/version"\ninterval_ms = 1000',
    recipe:
      '\n[state]\nschema = "entries/1"\n\n[[state.store]]\nid = "entries"\nkind = "sqlite"\npath = "entries.db"\n',
    interpreter: app.interpreter,
    port,
    binding: `\n[environment]\n${places}\n\n[state]\nroot = "${root}"\n`,
  };
  await addAttended(fleet, added);
  return { database: join(root, 'entries.db') };
}

/** What of the acknowledged writes the database holds: each is owed exactly once. */
export function judgeEntries(database: string, acked: readonly { readonly id: string }[]) {
  const opened = new DatabaseSync(database, { readOnly: true });
  try {
    const rows = opened.prepare('SELECT id, count(*) AS times FROM entries GROUP BY id').all();
    const times = new Map(rows.map((row) => [String(row['id']), Number(row['times'])]));
    const lost = acked.filter(({ id }) => !times.has(id)).length;
    return { lost, doubled: [...times.values()].filter((count) => count > 1).length };
  } finally {
    opened.close();
  }
}

/** Starts the program by hand on a database of its own; answers the milliseconds until its first good answer. */
export async function startByHand(fleet: Fleet, app: WrappedApp, port: number): Promise<number> {
  const directory = await mkdtemp(join(fleet.work, 'by-hand-'));
  const environment = { PORT: String(port), HOST: '127.0.0.1', DATABASE_PATH: join(directory, 'entries.db') };
  const begun = performance.now();
  const file = join(fleet.repository, app.target, app.file);
  const child = spawn(app.interpreter.path, [file], { env: environment, stdio: 'ignore' });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  try {
    for (;;) {
      const answer = await ask(`http://127.0.0.1:${port}`, '/version').catch(() => null);
      if (answer?.status === 200) return performance.now() - begun;
      if (performance.now() - begun > 20_000) throw new Error(`${app.target} did not start by hand`);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  } finally {
    child.kill('SIGKILL');
    await ended;
    await rm(directory, { recursive: true });
  }
}
