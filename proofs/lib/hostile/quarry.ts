import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createGitSource } from '@idunn/drivers';
import { type Outcome, systemClock } from '@idunn/kernel';
import { type SourceRequest, stagePaths, stagesDirectory } from '@idunn/release';
import { TOKEN } from './yard.ts';

const RECIPE = 'recipe.toml';
const STAGE = `app-${'0'.repeat(64)}`;

/** Mode, name and id of an entry, as it comes to stand in a tree. */
export type Entry = readonly [mode: string, name: string, id: string];

/** One hostile repository, a secret outside of it, a program that tells when it is run, and the source that reads. */
export class Quarry {
  readonly root: string;
  /** A file with the token, outside of everything that is read. */
  readonly secret: string;
  /** A program; whoever runs it leaves a witness. */
  readonly program: string;
  readonly origin: string;
  readonly stage: string;
  first = '';

  private constructor(root: string) {
    this.root = root;
    this.secret = join(root, 'outside/secret');
    this.program = join(root, 'outside/program');
    this.origin = join(root, 'origin');
    this.stage = stagePaths(stagesDirectory(join(root, 'cache')), STAGE).tree;
  }

  static async open(): Promise<Quarry> {
    const quarry = new Quarry(await mkdtemp(join(tmpdir(), 'idunn-quarry-')));
    // As root it is read by somebody else.
    await chmod(quarry.root, 0o755);
    await mkdir(dirname(quarry.secret));
    // Whoever runs the program can leave the witness.
    await chmod(dirname(quarry.secret), 0o777);
    await writeFile(quarry.secret, TOKEN);
    await writeFile(quarry.program, `#!/bin/sh\ntouch ${quarry.#witness}\n`);
    await chmod(quarry.program, 0o755);
    await mkdir(quarry.origin);
    await quarry.git('init', '--quiet', '--initial-branch=main');
    await writeFile(join(quarry.origin, RECIPE), 'target = "app"\n');
    await quarry.git('add', '--all');
    await quarry.git('commit', '--quiet', '--message', 'first');
    quarry.first = await quarry.git('rev-parse', 'HEAD');
    return quarry;
  }

  get #witness(): string {
    return join(this.root, 'outside/witness');
  }

  /** Whether somebody ran the program since this was asked last. */
  async ran(): Promise<boolean> {
    const found = await stat(this.#witness).then(
      () => true,
      () => false,
    );
    await rm(this.#witness, { force: true });
    return found;
  }

  git(...words: readonly string[]): Promise<string> {
    return plainGit(['-C', this.origin, ...words]);
  }

  raw(type: 'blob' | 'tree' | 'commit', bytes: string | Uint8Array): Promise<string> {
    return plainGit(['-C', this.origin, 'hash-object', '-t', type, '-w', '--stdin', '--literally'], bytes);
  }

  tree(...entries: readonly Entry[]): Promise<string> {
    const parts = entries.flatMap(([mode, name, id]) => [
      Buffer.from(`${mode} ${name}\0`),
      Uint8Array.from(Buffer.from(id, 'hex')),
    ]);
    return this.raw('tree', Buffer.concat(parts));
  }

  /** Makes `main` a commit of the recipe and these entries, in exactly this order behind it. */
  async plant(...entries: readonly Entry[]): Promise<void> {
    const recipe = await this.git('rev-parse', `${this.first}:${RECIPE}`);
    const tree = await this.tree(['100644', RECIPE, recipe], ...entries);
    const commit = await this.git('commit-tree', tree, '-p', this.first, '-m', 'planted');
    await this.git('update-ref', 'refs/heads/main', commit);
  }

  /** Reads and stages it as Idunn does; the code of what refused it, or `null`. */
  async read(more: Partial<SourceRequest> = {}): Promise<string | null> {
    const source = createGitSource({
      git: '/usr/bin/git',
      cache: join(this.root, 'cache/git'),
      stages: stagesDirectory(join(this.root, 'cache')),
      clock: systemClock(),
    });
    await rm(dirname(this.stage), { recursive: true, force: true });
    await mkdir(this.stage, { recursive: true });
    const request: SourceRequest = {
      target: 'app',
      origin: this.origin,
      ref: 'refs/heads/main',
      selection: 'ref-head',
      commit: null,
      authorization: null,
      minimumRevision: this.first,
      recipePath: RECIPE,
      submodules: [],
      lfsPointers: 'refuse',
      collidingNames: 'refuse',
      ...more,
    };
    const resolved = await source.resolve(request, never());
    const staged: Outcome<unknown> = resolved.ok
      ? await source.stage('app', resolved.value.facts, STAGE, never())
      : resolved;
    return staged.ok ? null : staged.refusal.code;
  }

  /** The object cache of the reader, once there is one. */
  async cache(): Promise<string> {
    const caches = join(this.root, 'cache/git');
    const [own] = (await readdir(caches)).filter((name) => name.startsWith('reader-'));
    return join(caches, own ?? '', 'app.git');
  }

  /** Clones it as people do, with whatever switches a protection off; answers where. */
  async clone(...words: readonly string[]): Promise<string> {
    const at = join(this.root, 'clone');
    await rm(at, { recursive: true, force: true });
    await plainGit([...words, 'clone', '--quiet', this.origin, at]);
    return at;
  }

  text(...path: readonly string[]): Promise<string> {
    return readFile(join(...path), 'latin1').catch(() => '');
  }

  close(): Promise<void> {
    return rm(this.root, { recursive: true, force: true });
  }
}

const never = (): AbortSignal => new AbortController().signal;

/** Git as people run it, without a configuration of their own. */
export function plainGit(words: readonly string[], input: string | Uint8Array = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile('/usr/bin/git', [...words], { env: ENVIRONMENT }, (error, stdout) => {
      if (error === null) resolve(stdout.trim());
      else reject(error);
    });
    child.stdin?.on('error', () => undefined).end(input);
  });
}

const ENVIRONMENT = {
  PATH: '/usr/bin:/bin',
  HOME: '/nonexistent',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'A',
  GIT_AUTHOR_EMAIL: 'a@example.org',
  GIT_COMMITTER_NAME: 'A',
  GIT_COMMITTER_EMAIL: 'a@example.org',
};
