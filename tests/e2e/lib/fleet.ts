import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Client, createClient, type OutcomeEvent, type RefusalAnswer } from '@idunn/client';
import { endFleet } from '../../../scripts/lib/end-fleet.mjs';
import { freePorts, writeFleet } from '../../../scripts/lib/fleet-files.mjs';
import { commitAll, ghostlightRepository } from '../../../scripts/lib/ghostlight-source.mjs';
import { OWN_USERS, separate } from './users.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** The programs as a user runs them: what was built, found through the command. */
const IDUNN = join(ROOT, 'packages/cli/bin/idunn.mjs');
const NODE = join(ROOT, 'node_modules/.bin/node');

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** The last line of `up --json`; `transaction` is null when nothing was begun. */
export type Outcome = Omit<OutcomeEvent, 'transaction'> & { readonly transaction: string | null };

/** What a fleet lives in: a test's context, or a proof. */
export interface Scope {
  readonly passed: boolean;
  after(end: () => Promise<void>): void;
  diagnostic(text: string): void;
}

/** One fleet of real processes in a directory of its own; everything that it started ends with the test. */
export interface Fleet {
  readonly id: string;
  readonly directory: string;
  readonly work: string;
  readonly runtime: string;
  readonly repository: string;
  /** The stable address of ghostlight. */
  readonly url: string;
  readonly client: Client;
  /** Runs the command to its end. */
  idunn(...words: readonly string[]): Promise<Ran>;
  /** `up --json`, with its exit code and its last line. */
  up(...words: readonly string[]): Promise<{ readonly code: number; readonly outcome: Outcome }>;
  /** Writes files of the repository, or deletes those that are null, and commits; answers the commit. */
  commit(files: Readonly<Record<string, string | null>>, message?: string): Promise<string>;
  /** Changes one file of the repository by its text. */
  edit(file: string, change: (text: string) => string): Promise<string>;
  /** Changes the binding by its text. */
  bind(change: (text: string) => string): Promise<void>;
  daemon(): Promise<number>;
  end(): Promise<void>;
}

/** Short paths: a Unix socket's has 107 bytes. */
const BASE = '/tmp';

export async function makeFleet(t: Scope): Promise<Fleet> {
  const work = await mkdtemp(join(BASE, 'ie2e-'));
  // A fleet is not kept where only root can go: its repositories are read by somebody else.
  await chmod(work, 0o755);
  const directory = join(work, 'fleet');
  const runtime = join(work, 'run');
  const repository = join(work, 'repo');
  const id = work.slice(BASE.length + 1).toLowerCase();
  const ports = await freePorts(randomInt(400));
  const minimumRevision = ghostlightRepository(repository);
  await withoutTestStep(repository);
  await mkdir(runtime, { mode: 0o700 });
  writeFleet({ fleet: directory, id, work, runtime, repository, minimumRevision, ports });
  const client = createClient(join(runtime, 'operator.sock'));
  const binding = join(directory, 'bindings/ghostlight.toml');
  await writeFile(binding, (await readFile(binding, 'utf8')).replace('drain_ms = 10000', 'drain_ms = 1000'));
  let ended = false;

  const fleet: Fleet = {
    id,
    directory,
    work,
    runtime,
    repository,
    url: `http://127.0.0.1:${ports.from}`,
    client,
    idunn: (...words) => run(directory, words),
    async up(...words) {
      const { code, out, err } = await run(directory, ['up', ...words, '--json']);
      const last = out.trimEnd().split('\n').at(-1) ?? '';
      if (last === '') throw new Error(`up said nothing, exit ${code}: ${err}`);
      return { code, outcome: JSON.parse(last) as Outcome };
    },
    async commit(files, message = 'A change') {
      for (const [file, text] of Object.entries(files)) {
        if (text === null) await rm(join(repository, file));
        else await writeFile(join(repository, file), text);
      }
      return commitAll(repository, message);
    },
    async edit(file, change) {
      const before = await readFile(join(repository, file), 'utf8');
      const after = change(before);
      if (after === before) throw new Error(`the change leaves ${file} as it is`);
      return fleet.commit({ [file]: after });
    },
    async bind(change) {
      await writeFile(binding, change(await readFile(binding, 'utf8')));
    },
    async daemon() {
      const started = await fleet.idunn('daemon', '--detach', '--json');
      if (started.code !== 0) throw new Error(`the daemon did not start: ${started.out}${started.err}`);
      return (JSON.parse(started.out) as { pid: number }).pid;
    },
    async end() {
      if (ended) return;
      ended = true;
      await endFleet({ fleet: directory, runtime, graceMs: 5_000 });
    },
  };
  if (OWN_USERS) await separate(fleet);
  t.after(async () => {
    await fleet.end();
    if (!t.passed) t.diagnostic(await lastLog(join(work, 'logs/daemon.log')));
    // Sealed releases are read-only.
    await new Promise((resolve) => execFile('chmod', ['-R', 'u+w', work], resolve));
    await rm(work, { recursive: true, force: true });
  });
  return fleet;
}

/** The example's own tests are run by the quickstart and by `verify`; here they would only take time. */
async function withoutTestStep(repository: string): Promise<void> {
  const recipe = join(repository, 'deployment/idunn/recipe.toml');
  const before = await readFile(recipe, 'utf8');
  const after = before.replace(/\[\[step\]\]\nid = "test"\n(?:.+\n)+\n/, '');
  if (after === before) throw new Error('the recipe of ghostlight has no step "test" any more');
  await writeFile(recipe, after);
  commitAll(repository, 'Without the test step');
}

async function lastLog(file: string): Promise<string> {
  if (!existsSync(file)) return 'no daemon log';
  return (await readFile(file, 'utf8')).split('\n').slice(-25).join('\n');
}

function run(directory: string, words: readonly string[]): Promise<Ran> {
  return new Promise((resolve) => {
    const options = { maxBuffer: 64 * 1024 * 1024, encoding: 'utf8' } as const;
    execFile(NODE, [IDUNN, '--fleet', directory, ...words], options, (error, out, err) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 255;
      resolve({ code, out, err });
    });
  });
}

/** The refusal of an outcome, which the test expects to be there. */
export function refusalOf(outcome: Outcome): RefusalAnswer {
  if (outcome.refusal === null) throw new Error(`${outcome.outcome} without a refusal`);
  return outcome.refusal;
}
