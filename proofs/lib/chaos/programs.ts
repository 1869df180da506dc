import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Build } from './schedule.ts';

/** In a row or event that nobody asked for: only a build that writes what it may not can have put it there. */
export const GARBAGE = 'garbage';

/** What a build of an attended program does wrong. The good one listens, whatever else a build is called. */
const spoilt = (build: Build): string => {
  switch (build) {
    case 'exits':
      return `throw new Error('cannot begin');`;
    case 'never-active':
      return 'await new Promise((resolve) => setTimeout(resolve, 3_600_000));';
    case 'garbage':
      return `const { createServer: listen } = await import('node:net');
const { randomBytes } = await import('node:crypto');
process.stdout.write(randomBytes(65_536));
listen((socket) => socket.on('error', () => {}).end(randomBytes(4_096))).listen(Number(process.argv[2]), '127.0.0.1');
const spoil = process.argv[3] === undefined ? null : new (await import('node:sqlite')).DatabaseSync(process.argv[3]);
spoil?.exec("INSERT INTO notes (id, writer) VALUES ('${GARBAGE}-' || hex(randomblob(8)), '${GARBAGE}')");
await new Promise((resolve) => setTimeout(resolve, 3_600_000));`;
    case 'good':
    case 'slow':
    case 'hanging':
      return '';
  }
};

/** Keeps notes in SQLite as people would: no lease, no handler of signals. What is told twice is kept twice. */
export const notes = (version: number, build: Build): string => `import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
${spoilt(build)}
const [port, file] = process.argv.slice(2);
const database = new DatabaseSync(file);
database.exec('PRAGMA journal_mode = WAL');
database.exec('CREATE TABLE IF NOT EXISTS notes (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT, writer TEXT)');
const add = database.prepare('INSERT INTO notes (id, writer) VALUES (?, ?)');
const writer = randomUUID();
createServer((request, response) => {
  if (request.method !== 'POST') return response.end(JSON.stringify({ version: ${version}, pid: process.pid }));
  let text = '';
  request.on('data', (piece) => { text += piece; });
  request.on('end', () => {
    const { id } = JSON.parse(text);
    response.end(JSON.stringify({ id, seq: Number(add.run(id, writer).lastInsertRowid) }));
  });
}).listen(Number(port), '127.0.0.1');
`;

/** Answers and keeps nothing. */
export const clock = (version: number, build: Build): string => `import { createServer } from 'node:http';
${spoilt(build)}
createServer((request, response) => {
  response.end(JSON.stringify({ version: ${version}, pid: process.pid, now: Date.now() }));
}).listen(Number(process.argv[2]), '127.0.0.1');
`;

const MAIN = 'src/main.js';
const BUILD = 'build.mjs';
/** Where the SDK that ghostlight carries signs its presence: a liar changes it there. */
const PRESENCE = 'vendor/workload/presence/presence.js';

type Change = (text: string) => string;

const GHOSTLIGHT: Readonly<Record<Build, Readonly<Record<string, Change>>>> = {
  good: {},
  slow: { [BUILD]: (text) => `await new Promise((resolve) => setTimeout(resolve, 3_000));\n${text}` },
  hanging: { [BUILD]: (text) => `await new Promise((resolve) => setTimeout(resolve, 3_600_000));\n${text}` },
  exits: { [MAIN]: (text) => `console.error('no light tonight');\nprocess.exit(7);\n${text}` },
  'never-active': { [MAIN]: (text) => text.replace('() => journal.create()', '() => new Promise(() => {})') },
  garbage: {
    [MAIN]: (text) => `${text}
process.stdout.write(new Uint8Array(65_536).map((_, at) => at * 31));
const early = { id: '${GARBAGE}-' + process.pid, text: '' };
try { journal.append([early], 1); } catch (refused) { console.error(refused); }
`,
    [PRESENCE]: (text) =>
      text.replace('signEnvelope(payload, keys)', `signEnvelope({ ...payload, state: '${GARBAGE}' }, keys)`),
  },
};

/** The files of ghostlight as they stand; answers the files of any build of it. */
export async function ghostlightBuilds(
  repository: string,
): Promise<(version: number, build: Build) => Readonly<Record<string, string>>> {
  const base = new Map<string, string>();
  for (const file of [MAIN, BUILD, PRESENCE]) base.set(file, await readFile(join(repository, file), 'utf8'));
  return (version, build) => ({
    'NOTES.md': `change ${version}\n`,
    ...Object.fromEntries(
      [...base].map(([file, text]) => {
        const change = GHOSTLIGHT[build][file];
        const changed = change === undefined ? text : change(text);
        if (change !== undefined && changed === text) throw new Error(`a build that ${build} leaves ${file} as it is`);
        return [file, changed];
      }),
    ),
  });
}
