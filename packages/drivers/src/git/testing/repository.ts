import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

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

  async git(...words: string[]): Promise<string> {
    const { stdout } = await run('/usr/bin/git', ['-C', this.path, '-c', 'core.autocrlf=false', ...words], {
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
    return stdout.trim();
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

/** A temporary directory that is gone when the test ends. */
export async function temporary(context: { after(work: () => Promise<void>): void }): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'idunn-git-'));
  context.after(async () => {
    // Sealed releases are read-only, directories too.
    await run('/bin/chmod', ['-R', 'u+rwx', path]);
    await rm(path, { recursive: true, force: true });
  });
  return path;
}
