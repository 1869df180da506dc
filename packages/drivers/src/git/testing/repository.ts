import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Mode, name and id, as they come to stand in a tree. */
export type RawEntry = readonly [mode: string, name: string | Uint8Array, id: string];

/** A real repository in a temporary directory; its commits are the same in every run. */
export class Repository {
  readonly path: string;
  private constructor(path: string) {
    this.path = path;
  }

  static async create(path: string, objectFormat: 'sha1' | 'sha256' = 'sha1'): Promise<Repository> {
    await mkdir(path, { recursive: true });
    const repository = new Repository(path);
    await repository.git('init', '--quiet', '--initial-branch=main', `--object-format=${objectFormat}`);
    return repository;
  }

  git(...words: string[]): Promise<string> {
    return this.feed('', ...words);
  }

  /** Runs git with something on its standard input. */
  async feed(input: string | Uint8Array, ...words: string[]): Promise<string> {
    const running = run('/usr/bin/git', ['-C', this.path, '-c', 'core.autocrlf=false', ...words], {
      env: {
        PATH: '/usr/bin:/bin',
        HOME: '/nonexistent',
        GIT_CONFIG_GLOBAL: '/dev/null',
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_AUTHOR_NAME: 'A',
        GIT_AUTHOR_EMAIL: 'a@example.org',
        GIT_AUTHOR_DATE: '2026-01-01T00:00:00Z',
        GIT_COMMITTER_NAME: 'A',
        GIT_COMMITTER_EMAIL: 'a@example.org',
        GIT_COMMITTER_DATE: '2026-01-01T00:00:00Z',
      },
    });
    // A git that asks for nothing may have ended already.
    running.child.stdin?.on('error', () => undefined).end(input);
    return (await running).stdout.trim();
  }

  /** Writes an object from its bytes, whatever they are, and answers its id. */
  raw(type: 'blob' | 'tree' | 'commit' | 'tag', bytes: string | Uint8Array): Promise<string> {
    return this.feed(bytes, 'hash-object', '-t', type, '-w', '--stdin', '--literally');
  }

  /** A tree of exactly these entries, in exactly this order, as no tool of git would write one. */
  tree(...entries: readonly RawEntry[]): Promise<string> {
    const bytes = entries.map(([mode, name, id]) => [
      Buffer.from(`${mode} `),
      Buffer.from(name),
      [0],
      Buffer.from(id, 'hex'),
    ]);
    return this.raw('tree', Buffer.concat(bytes.flat().map((part) => Buffer.from(part))));
  }

  /**
   * Makes `main` a commit that holds, beside everything that it holds now, these entries at the root of the tree, in
   * git's own order.
   */
  async plant(...entries: readonly RawEntry[]): Promise<string> {
    const listed = (await this.git('ls-tree', '-z', 'HEAD')).split('\0').filter((line) => line !== '');
    const now = listed.map((line): RawEntry => {
      const [mode = '', , id = ''] = line.slice(0, line.indexOf('\t')).split(' ');
      return [mode.replace(/^0/, ''), line.slice(line.indexOf('\t') + 1), id];
    });
    const order = ([mode, name]: RawEntry) =>
      Buffer.concat([Buffer.from(name), Buffer.from(mode === '40000' ? '/' : '')]);
    const all = [...now, ...entries].toSorted((a, b) => Buffer.compare(order(a), order(b)));
    return this.commitTree(await this.tree(...all));
  }

  /** Makes `main` a commit of this tree. */
  async commitTree(tree: string): Promise<string> {
    const commit = await this.git('commit-tree', tree, '-p', 'HEAD', '-m', 'planted');
    await this.git('update-ref', 'refs/heads/main', commit);
    return commit;
  }

  async write(path: string, content: string | Uint8Array, mode = 0o644): Promise<void> {
    const full = join(this.path, path);
    await mkdir(dirname(full), { recursive: true });
    await writeFile(full, content);
    await chmod(full, mode);
  }

  async link(path: string, target: string): Promise<void> {
    await mkdir(dirname(join(this.path, path)), { recursive: true });
    await symlink(target, join(this.path, path));
  }

  /** Commits everything and answers the commit's id. */
  async commit(message: string): Promise<string> {
    await this.git('add', '--all', '--force');
    await this.git('commit', '--quiet', '--allow-empty', '--message', message);
    return this.git('rev-parse', 'HEAD');
  }
}

/** A temporary directory that is gone when the test ends; for root somebody else reads what is in it. */
export async function temporary(context: { after(work: () => Promise<void>): void }): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'idunn-git-'));
  await chmod(path, 0o755);
  context.after(async () => {
    // Sealed releases are read-only, directories too.
    await run('/bin/chmod', ['-R', 'u+rwx', path]);
    await rm(path, { recursive: true, force: true });
  });
  return path;
}
