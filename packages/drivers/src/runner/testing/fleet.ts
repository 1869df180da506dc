import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Outcome,
  publicKeyOf,
  randomIds,
  seen,
  signingKeyFromSeed,
  systemClock,
  systemTimers,
} from '@idunn/kernel';
import {
  type AuthorizationBook,
  createLocalReleaseService,
  type Fleet,
  type InstalledTarget,
  loadFleet,
  type RunnerPort,
  type SourcePort,
  stagesDirectory,
} from '@idunn/release';
import { createBubblewrapRunner } from '../../bubblewrap/runner.ts';
import { createGitSource } from '../../git/source.ts';
import { Repository, temporary } from '../../git/testing/repository.ts';
import { createRunner } from '../by-grant.ts';
import { createHostRunner } from '../runner.ts';

export const key = signingKeyFromSeed(Buffer.alloc(32, 9).toString('base64'));

export const RECIPE = `
schema = "idunn.recipe/v1"
target = "app"
[runner.build]
programs = ["node"]
[[step]]
id = "compile"
profile = "build"
argv = ["node", "build.cjs"]
[[artifact]]
id = "server"
path = "dist"
kind = "directory"
[[artifact]]
id = "notice"
path = "NOTICE"
kind = "file"
[service]
artifact = "server"
path = "bin/server.js"
interpreter = "node"
[health]
kind = "idunn"
`;

/** What the step does; it leaves a link, an executable and a nested file. */
export const BUILD = `
const fs = require('node:fs');
fs.mkdirSync('dist/bin', { recursive: true });
fs.copyFileSync('server.js', 'dist/bin/server.js');
fs.writeFileSync('dist/bin/tool', '#!/bin/sh\\n', { mode: 0o755 });
fs.symlinkSync('bin/server.js', 'dist/latest');
console.log('built');
`;

export const bindingText = (origin: string, minimum: string, more = ''): string => `
schema = "idunn.binding/v1"
target = "app"
${more}
[source]
origin = ${JSON.stringify(origin)}
ref = "refs/heads/main"
minimum_revision = "${minimum}"
[runner.build]
kind = "host-native"
allowed_programs = { node = ${JSON.stringify(process.execPath)} }
[interpreter.node]
path = ${JSON.stringify(process.execPath)}
`;

export async function appRepository(
  path: string,
): Promise<{ readonly repository: Repository; readonly first: string }> {
  const repository = await Repository.create(path);
  await repository.write('deployment/idunn/recipe.toml', RECIPE);
  await repository.write('build.cjs', BUILD);
  await repository.write('server.js', 'console.log("one")\n');
  await repository.write('NOTICE', 'notice\n');
  return { repository, first: await repository.commit('first') };
}

export interface Bench {
  readonly root: string;
  readonly fleet: Fleet;
  readonly release: ReturnType<typeof createLocalReleaseService>;
  /** How often each port was called. */
  readonly calls: { resolve: number; stage: number; run: number };
}

/** A fleet on disk with the real git source and the real host runner. */
export async function bench(
  context: { after(work: () => Promise<void>): void },
  options: {
    id?: string;
    bindings: Readonly<Record<string, string>>;
    installed?: readonly InstalledTarget[];
    authorizations?: Pick<AuthorizationBook, 'current'>;
  },
): Promise<Bench> {
  const root = await temporary(context);
  const { id = 'home', bindings, installed = [], authorizations } = options;
  const directories = ['state', 'runtime', 'releases', 'logs', 'cache']
    .map((name) => `${name} = "var/${name}"`)
    .join('\n');
  await mkdir(join(root, 'bindings'));
  await writeFile(join(root, 'fleet.toml'), `schema = "idunn.fleet/v1"\nid = "${id}"\n[directories]\n${directories}\n`);
  for (const [name, text] of Object.entries(bindings)) await writeFile(join(root, 'bindings', `${name}.toml`), text);
  const fleet = valueOf(await loadFleet(root, { root: false, home: root, environment: {} }));
  const stages = stagesDirectory(fleet.directories.cache);
  const calls = { resolve: 0, stage: 0, run: 0 };
  const cache = join(fleet.directories.cache, 'git');
  const git = createGitSource({ git: '/usr/bin/git', cache, stages, clock: systemClock() });
  const source: SourcePort = {
    resolve: (...words) => ((calls.resolve += 1), git.resolve(...words)),
    stage: (...words) => ((calls.stage += 1), git.stage(...words)),
  };
  const surroundings = { stages, clock: systemClock(), timers: systemTimers };
  const both = createRunner(
    createHostRunner(surroundings),
    createBubblewrapRunner({
      ...surroundings,
      fleet: id,
      bubblewrap: '/usr/bin/bwrap',
      uid: process.getuid?.() ?? 0,
      hidden: () => [root],
    }),
  );
  const runner: RunnerPort = {
    endAll: (stage) => both.endAll(stage),
    run: (...words) => ((calls.run += 1), both.run(...words)),
  };
  const signer = { keyId: 'ed25519:test', publicKey: publicKeyOf(key.privateKey) };
  const release = createLocalReleaseService({
    fleet: () => fleet,
    machine: 'local',
    directories: fleet.directories,
    source,
    runner,
    ...(authorizations === undefined ? {} : { authorizations }),
    key,
    signer: async () => seen(signer),
    uid: process.getuid?.() ?? 0,
    clock: systemClock(),
    ids: randomIds,
    installed,
  });
  return { root, fleet, release, calls };
}

export const never = (): AbortSignal => new AbortController().signal;
export const silent = (): void => undefined;

export function valueOf<T>(outcome: Outcome<T>): T {
  if (!outcome.ok) throw new Error(`refused: ${JSON.stringify(outcome.refusal, null, 1)}`);
  return outcome.value;
}

export function refusalOf(outcome: Outcome<unknown>) {
  if (outcome.ok) throw new Error('it was not refused');
  return outcome.refusal;
}

export const text = (path: string): Promise<string> => readFile(path, 'utf8');
