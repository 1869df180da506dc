import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './root.mjs';

/** Nothing of the user's own git configuration reaches the repository that is made here. */
const GIT_ENVIRONMENT = {
  PATH: process.env.PATH,
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Quickstart',
  GIT_AUTHOR_EMAIL: 'quickstart@example.org',
  GIT_COMMITTER_NAME: 'Quickstart',
  GIT_COMMITTER_EMAIL: 'quickstart@example.org',
};

/** Runs git in a repository and answers what it printed. */
export const git = (repository, ...words) =>
  execFileSync('git', words, {
    cwd: repository,
    env: GIT_ENVIRONMENT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim();

/** Commits everything that changed on `main`; answers the head, which stays where nothing changed. */
export function commitAll(repository, message) {
  git(repository, 'add', '--all', '--force');
  if (git(repository, 'status', '--porcelain') !== '') git(repository, 'commit', '--quiet', '--message', message);
  return git(repository, 'rev-parse', 'HEAD');
}

const OWN_EMAIL = GIT_ENVIRONMENT.GIT_AUTHOR_EMAIL;

/** True when the newest commit is not ours, or files were changed since: then the repository is somebody's work. */
const isWorkedIn = (repository) =>
  git(repository, 'log', '-1', '--format=%ae') !== OWN_EMAIL || git(repository, 'status', '--porcelain') !== '';

/**
 * Makes the source repository of ghostlight, or brings it up to date: the example with the built SDK vendored, so
 * that it builds without a registry. A repository that somebody works in is left as it is. Answers the commit of
 * `main`.
 */
export function ghostlightRepository(repository) {
  if (existsSync(join(repository, '.git'))) {
    if (isWorkedIn(repository)) return git(repository, 'rev-parse', 'HEAD');
  } else {
    mkdirSync(repository, { recursive: true });
    git(repository, 'init', '--quiet', '--initial-branch=main');
  }
  for (const name of readdirSync(repository)) {
    if (name !== '.git') rmSync(join(repository, name), { recursive: true });
  }
  const example = join(ROOT, 'examples/ghostlight');
  cpSync(example, repository, { recursive: true, filter: (path) => !/\/(?:node_modules|out|vendor)$|\.db/.test(path) });
  const sdk = join(ROOT, 'packages/workload/dist');
  if (!existsSync(join(sdk, 'index.js'))) throw new Error('packages/workload is not built; run npm run build first.');
  cpSync(sdk, join(repository, 'vendor/workload'), {
    recursive: true,
    filter: (path) => !/\.map$|\.d\.ts$|\.tsbuildinfo$|\/testing$/.test(path),
  });
  return commitAll(repository, 'Ghostlight, as the example stands');
}
