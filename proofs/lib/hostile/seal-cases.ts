import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createBubblewrapRunner, createGitSource, createHostRunner, createRunner } from '@idunn/drivers';
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
  createLocalReleaseService,
  loadFleet,
  planDigest,
  type ReleasePort,
  releaseDirectory,
  type SealedRelease,
  stageId,
  stagePaths,
  stagesDirectory,
} from '@idunn/release';
import type { HostileCase } from './case.ts';
import { plainGit } from './quarry.ts';
import { BUBBLEWRAP, PYTHON, TOKEN } from './yard.ts';

const run = promisify(execFile);
const TARGET = 'app';

/** A fleet with one target whose repository is as hostile as its build script, sealed for real in the sandbox. */
class Foundry {
  readonly root: string;
  /** Outside of everything that a build may touch. */
  readonly outside: string;
  readonly #origin: string;
  #release: ReleasePort | null = null;

  constructor(root: string) {
    this.root = root;
    this.outside = join(root, 'outside');
    this.#origin = join(root, 'origin');
  }

  /** Commits the script and seals it; what the stage held before it went is `stage`. */
  async seal(script: string): Promise<Outcome<SealedRelease>> {
    const release = await this.#service(script);
    const planned = await release.plan({ target: TARGET }, never());
    if (!planned.ok) return planned;
    return release.seal(planned.value.plan, never(), () => undefined);
  }

  /** Seals without discarding: the stage as the steps of the script leave it. */
  async stage(script: string): Promise<{ readonly tree: string; readonly clean: () => Promise<void> }> {
    const release = await this.#service(script);
    const planned = await release.plan({ target: TARGET }, never());
    if (!planned.ok) throw new Error(planned.refusal.reason);
    await release.seal(planned.value.plan, never(), () => undefined);
    const stage = stageId(TARGET, planDigest(planned.value.plan));
    const { tree } = stagePaths(this.#stages, stage);
    return { tree, clean: () => release.collect([]) };
  }

  file(release: SealedRelease, path: string): Promise<string> {
    return readFile(join(releaseDirectory(join(this.root, 'var/releases'), release.release), path), 'utf8');
  }

  get #stages(): string {
    return stagesDirectory(join(this.root, 'var/cache'));
  }

  async #service(script: string): Promise<ReleasePort> {
    const git = (...words: readonly string[]) => plainGit(['-C', this.#origin, ...words]);
    if (this.#release === null) {
      await mkdir(this.outside, { recursive: true });
      await writeFile(join(this.outside, 'kept'), TOKEN);
      await mkdir(join(this.#origin, 'deployment/idunn'), { recursive: true });
      await git('init', '-q', '-b', 'main');
      await writeFile(join(this.#origin, 'deployment/idunn/recipe.toml'), RECIPE);
    }
    await writeFile(join(this.#origin, 'build.py'), script);
    await git('add', '-A');
    await git('commit', '-q', '--allow-empty', '-m', 'hostile');
    this.#release ??= await this.#open(await git('rev-parse', 'HEAD'));
    return this.#release;
  }

  async #open(first: string): Promise<ReleasePort> {
    const names = ['state', 'runtime', 'releases', 'logs', 'cache'];
    const directories = names.map((name) => `${name} = "var/${name}"`).join('\n');
    await mkdir(join(this.root, 'bindings'));
    await writeFile(
      join(this.root, 'fleet.toml'),
      `schema = "idunn.fleet/v1"\nid = "proof"\n[directories]\n${directories}\n`,
    );
    await writeFile(join(this.root, 'bindings/app.toml'), binding(this.#origin, first));
    const fleet = await loadFleet(this.root, { root: false, home: this.root, environment: {} });
    if (!fleet.ok) throw new Error(fleet.refusal.reason);
    const surroundings = { stages: this.#stages, clock: systemClock(), timers: systemTimers };
    const uid = process.getuid?.() ?? 0;
    const sandbox = { ...surroundings, fleet: 'proof', bubblewrap: BUBBLEWRAP, uid, hidden: () => [this.root] };
    return createLocalReleaseService({
      fleet: () => fleet.value,
      machine: 'local',
      directories: fleet.value.directories,
      source: createGitSource({
        git: '/usr/bin/git',
        cache: join(this.root, 'var/cache/git'),
        stages: this.#stages,
        clock: systemClock(),
      }),
      runner: createRunner(createHostRunner(surroundings), createBubblewrapRunner(sandbox)),
      key,
      signer: async () => seen({ keyId: 'ed25519:proof', publicKey: publicKeyOf(key.privateKey) }),
      uid,
      clock: systemClock(),
      ids: randomIds,
    });
  }
}

/** What a hostile build does to its own results, and to whoever takes or removes them. */
export async function sealCases(): Promise<{
  readonly cases: readonly HostileCase[];
  readonly close: () => Promise<void>;
}> {
  const root = await mkdtemp(join(tmpdir(), 'idunn-foundry-'));
  // As root its repository is read by somebody else.
  await chmod(root, 0o755);
  const foundry = new Foundry(root);
  const outside = JSON.stringify(join(root, 'outside'));
  const linked = (script: string, path: string): HostileCase => ({
    name: '',
    async attempt() {
      const sealed = await foundry.seal(script);
      if (!sealed.ok) return { escaped: false, refusal: sealed.refusal.code };
      return { escaped: (await foundry.file(sealed.value, path).catch(() => '')).includes(TOKEN), refusal: null };
    },
    // Whoever reads what the step left, and asks nothing, reads what the link leads to.
    async control() {
      const { tree, clean } = await foundry.stage(script);
      const found = await readFile(join(tree, path.replace('server', 'dist')), 'utf8').catch(() => '');
      await clean();
      return { succeeded: found.includes(TOKEN) };
    },
  });
  const cases: readonly HostileCase[] = [
    {
      ...linked(`${START}\nos.symlink(${outside} + "/kept", "dist/stolen")`, 'server/stolen'),
      name: 'an artifact holds a link to a file outside',
    },
    {
      ...linked(`${START}\nos.rename("dist", "real"); os.symlink(${outside}, "dist")`, 'server/kept'),
      name: 'an artifact is itself a link to a directory outside',
    },
    {
      ...linked(`${START}\nos.symlink("step", "dist/a"); os.symlink(${outside}, "dist/step")`, 'server/a/kept'),
      name: 'an artifact leads outside by a link to a link',
    },
    cleanUp(foundry, `${START}\nos.symlink(${outside}, "way")\nos.chmod("dist", 0)\nraise SystemExit(1)`),
    changedRecipe(foundry),
  ];
  return { cases, close: () => removeAll(root) };
}

function cleanUp(foundry: Foundry, script: string): HostileCase {
  const kept = async (): Promise<boolean> => (await readdir(foundry.outside)).includes('kept');
  return {
    name: 'a link in a stage is followed when the stage is removed',
    async attempt() {
      const { clean } = await foundry.stage(script);
      await clean();
      return { escaped: !(await kept()), refusal: null };
    },
    /** A removal that follows links would reach the directory outside. */
    async control() {
      const { tree, clean } = await foundry.stage(script);
      const reached = (await realpath(join(tree, 'way'))) === (await realpath(foundry.outside));
      await chmod(join(tree, 'dist'), 0o700);
      await clean();
      return { succeeded: reached };
    },
  };
}

/** The first step rewrites the recipe; the second must be the one that was planned. */
function changedRecipe(foundry: Foundry): HostileCase {
  const script = `${START}
text = open("deployment/idunn/recipe.toml").read()
open("deployment/idunn/recipe.toml", "w").write(text.replace("print(1)", "open('dist/other', 'w').write('${TOKEN}')"))`;
  return {
    name: 'a step changes the recipe that its plan was made of',
    async attempt() {
      const sealed = await foundry.seal(script);
      if (!sealed.ok) return { escaped: false, refusal: sealed.refusal.code };
      return {
        escaped: await foundry.file(sealed.value, 'server/other').then(
          () => true,
          () => false,
        ),
        refusal: null,
      };
    },
    /** The same recipe, committed, does what it says. */
    async control() {
      const done = await foundry.seal(`${START}\nopen("dist/other", "w").write("${TOKEN}")`);
      return { succeeded: done.ok && (await foundry.file(done.value, 'server/other')) === TOKEN };
    },
  };
}

const START = 'import os\nos.mkdir("dist"); open("dist/main", "w").write("#!/bin/sh\\n"); os.chmod("dist/main", 0o755)';
/** Sealed releases are read-only, their directories too. */
async function removeAll(root: string): Promise<void> {
  await run('chmod', ['-R', 'u+w', root]);
  await rm(root, { recursive: true, force: true });
}

const key = signingKeyFromSeed(Buffer.alloc(32, 3).toString('base64'));
const never = (): AbortSignal => new AbortController().signal;
const RECIPE = `
schema = "idunn.recipe/v1"
target = "${TARGET}"
[runner.build]
programs = ["python3"]
[[step]]
id = "first"
profile = "build"
argv = ["python3", "build.py"]
[[step]]
id = "second"
profile = "build"
argv = ["python3", "-c", "print(1)"]
[[artifact]]
id = "server"
path = "dist"
kind = "directory"
[service]
artifact = "server"
path = "main"
[health]
kind = "idunn"
`;

const binding = (origin: string, first: string): string => `
schema = "idunn.binding/v1"
target = "${TARGET}"
[source]
origin = ${JSON.stringify(origin)}
ref = "refs/heads/main"
minimum_revision = "${first}"
[runner.build]
kind = "bubblewrap"
allowed_programs = { python3 = "${PYTHON}" }
`;
