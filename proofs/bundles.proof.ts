import { execFile, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { copyFile, mkdir, mkdtemp, open, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import type { Outcome } from '@idunn/kernel';
import * as ladder from '@idunn/ladder';
import { startPostgres } from '@idunn/ladder/testing';
import { type Claim, claim, type Figures, type Proof, type ProofRun, round } from './lib/proof.ts';

const MIB = 1024 * 1024;
const FILE_MIB = 16;
/** Nothing that is carried may be held in memory. */
const MOST_RSS_MIB = 500;
const slotOf = (name: string): ladder.Slot => ({
  name,
  namespace: `proof-${name}`,
  hosts: [],
  role: 'test',
  guarded: false,
  promotes_to: [],
});
const [SOURCE, TARGET] = [slotOf('source'), slotOf('target')];
const run = promisify(execFile);

export const proof: Proof = {
  name: 'bundles',
  promise:
    'A directory and a database of any size are sealed, verified and loaded in bounded memory; damage is refused.',
  async run(options) {
    const root = await mkdtemp(join(tmpdir(), 'idunn-bundles-'));
    try {
      const files = await directory(join(root, 'files'), options);
      const database = await postgres(join(root, 'postgres'), options);
      const rssMb = round(process.resourceUsage().maxRSS / 1024);
      return {
        figures: { ...files.figures, ...database.figures, rssMb },
        claims: [
          ...files.claims,
          ...database.claims,
          claim(`memory stayed under ${MOST_RSS_MIB} MiB: ${rssMb}`, rssMb < MOST_RSS_MIB),
        ],
      };
    } finally {
      await rm(root, { recursive: true });
    }
  },
};

interface Part {
  readonly figures: Figures;
  readonly claims: readonly Claim[];
}

async function directory(root: string, { quick, note }: ProofRun): Promise<Part> {
  const mib = quick ? 256 : 5 * 1024;
  await fill(join(root, 'source'), mib);
  note(`a directory of ${mib} MiB`);
  const data = ladder.directoryData({
    description: 'files',
    locate: (slot) => join(root, slot.name),
    standing: ladder.NOTHING_RUNS,
  });
  const carried = await carry(root, data, note);
  const byHandMs = await timed(() => tarAndZstd(join(root, 'source'), join(root, 'by-hand')));
  note(`tar | zstd alone: ${byHandMs} ms`);
  const same = await run('diff', ['-r', join(root, 'source'), join(root, 'target')]).then(
    () => true,
    () => false,
  );
  const refused = await damaged(root);
  return {
    figures: { directoryMb: mib, ...named('directory', carried), directoryTarZstdMs: byHandMs, refused },
    claims: [
      claim('every file of the directory arrived as it was', same),
      claim('a flipped byte, a cut file and a partial capture are refused', refused === 3),
    ],
  };
}

async function postgres(root: string, { quick, note }: ProofRun): Promise<Part> {
  const mib = quick ? 64 : 1024;
  await mkdir(root);
  const server = startPostgres();
  const reach = (database: string) => [`--host=${server.host}`, `--username=${server.user}`, `--dbname=${database}`];
  const sql = async (database: string, ...statements: readonly string[]): Promise<string> => {
    const commands = statements.flatMap((statement) => ['--command', statement]);
    return (await run('psql', [...reach(database), '--no-psqlrc', '-qtA', ...commands])).stdout.trim();
  };
  try {
    await sql('postgres', 'CREATE DATABASE source');
    const rows = `INSERT INTO orders (body) SELECT md5(n::text) || repeat(md5((n * 7)::text), 30)
      FROM generate_series(1, ${mib * 1_000}) AS n`;
    await sql('source', 'CREATE TABLE orders (id bigserial PRIMARY KEY, body text)', rows);
    note(`a database of ${await sql('source', "SELECT pg_size_pretty(pg_database_size('source'))")}`);
    const data = ladder.postgresData({
      description: 'database',
      locate: (slot) => ({ host: server.host, port: server.port, user: server.user, database: slot.name }),
      standing: ladder.NOTHING_RUNS,
    });
    const carried = await carry(root, data, note);
    const dump = ['--format=custom', `--file=${join(root, 'by-hand')}`];
    const byHandMs = await timed(() => run('pg_dump', [...reach('source'), ...dump]));
    note(`pg_dump alone: ${byHandMs} ms`);
    const digest = 'SELECT count(*), md5(string_agg(md5(body), chr(10) ORDER BY id)) FROM orders';
    const same = (await sql('source', digest)) === (await sql('target', digest));
    return {
      figures: { databaseMb: mib, ...named('database', carried), databasePgDumpMs: byHandMs },
      claims: [claim('every row of the database arrived as it was', same)],
    };
  } finally {
    server.stop();
  }
}

interface Carried {
  readonly dumpMs: number;
  readonly sealMs: number;
  readonly verifyMs: number;
  readonly unsealMs: number;
  readonly loadMs: number;
}

/** Dumps, seals, verifies, unseals and loads, and tells how long each took. */
async function carry(root: string, data: ladder.AppData, note: (text: string) => void): Promise<Carried> {
  const [staging, bundle, unsealed] = ['staging', 'bundle', 'unsealed'].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ];
  await mkdir(staging);
  const registry = valueOf(ladder.createRegistry([SOURCE, TARGET]));
  const trail = ladder.openFileTrail(join(root, 'audit.log'));
  const auditing = { trail, who: { actor: 'proof', tenant: 'local', from: 'proof' }, clock: { wallMs: () => 0 } };
  const clearance = valueOf(
    await ladder.createGuard({ registry, keys: ladder.NO_KEYS, auditing }).clear({ slot: TARGET.name }),
  );
  const steps: Record<string, number> = {};
  const step = async <T>(name: keyof Carried, work: () => Promise<Outcome<T>>): Promise<T> => {
    const begun = performance.now();
    const value = valueOf(await work());
    steps[name] = round(performance.now() - begun);
    note(`${name} ${steps[name]}`);
    return value;
  };
  const report = await step('dumpMs', () => data.dump(SOURCE, staging));
  const sealing = { staging, bundle, sourceSlot: SOURCE.name, takenAtMs: 0, app: data.describe(), report };
  await step('sealMs', () => ladder.seal(sealing));
  const verified = await step('verifyMs', () => ladder.verify(bundle));
  if (!verified.usable) throw new Error(verified.problems.join('; '));
  await step('unsealMs', () => ladder.unseal(bundle, unsealed));
  const request = { data, clearance, slot: TARGET, staging: unsealed, auditing };
  await step('loadMs', () => ladder.loadInto(request));
  trail.close();
  return steps as unknown as Carried;
}

/** How many of three damaged bundles are refused: a flipped byte, a cut file, a capture that was not whole. */
async function damaged(root: string): Promise<number> {
  const bundle = join(root, 'bundle');
  const { size } = await stat(bundle);
  const refusals: Outcome<unknown>[] = [];
  for (const damage of ['flip', 'cut'] as const) {
    const copy = join(root, damage);
    await copyFile(bundle, copy);
    await copyFile(ladder.manifestPath(bundle), ladder.manifestPath(copy));
    const file = await open(copy, 'r+');
    if (damage === 'cut') await file.truncate(size - 1);
    else
      await file.write(
        Buffer.from([((await file.read(Buffer.alloc(1), 0, 1, size >> 1)).buffer[0] ?? 0) ^ 1]),
        0,
        1,
        size >> 1,
      );
    await file.close();
    refusals.push(await ladder.unseal(copy, join(root, `${damage}-out`)));
    await rm(copy);
  }
  await mkdir(join(root, 'small'));
  await writeFile(join(root, 'small', 'one'), 'one');
  const parts = [ladder.part.complete('files', 1), ladder.part.skipped('objects', 'no credentials were configured')];
  const report = { parts, watermark: null, appMeta: {} };
  const partial = join(root, 'partial');
  const sealing = {
    staging: join(root, 'small'),
    bundle: partial,
    sourceSlot: 'source',
    takenAtMs: 0,
    app: 'x',
    report,
  };
  valueOf(await ladder.seal(sealing));
  refusals.push(await ladder.unseal(partial, join(root, 'partial-out')));
  return refusals.filter((outcome) => !outcome.ok).length;
}

/** Files that compress about as well as real data: a quarter of each is random. */
async function fill(root: string, mib: number): Promise<void> {
  await mkdir(root, { recursive: true });
  const bytes = Buffer.alloc(FILE_MIB * MIB, 'The quick brown fox jumps over the lazy dog. ');
  for (let file = 0; file < mib / FILE_MIB; file++) {
    for (let at = 0; at < bytes.length / 4; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
    await writeFile(join(root, `file-${file}`), bytes);
  }
}

async function tarAndZstd(from: string, to: string): Promise<void> {
  const tar = spawn('tar', ['-c', from], { stdio: ['ignore', 'pipe', 'ignore'] });
  const zstd = spawn('zstd', ['-3', '-q', '-c'], { stdio: ['pipe', 'pipe', 'ignore'] });
  await Promise.all([pipeline(tar.stdout, zstd.stdin), pipeline(zstd.stdout, createWriteStream(to))]);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return round(performance.now() - begun);
}

const named = (what: string, carried: Carried): Figures =>
  Object.fromEntries(
    Object.entries(carried).map(([name, ms]) => [`${what}${name[0]?.toUpperCase()}${name.slice(1)}`, ms]),
  );

function valueOf<T>(outcome: Outcome<T>): T {
  if (!outcome.ok) throw new Error(`${outcome.refusal.code}: ${outcome.refusal.reason}`);
  return outcome.value;
}
