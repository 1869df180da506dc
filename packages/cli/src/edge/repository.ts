import { execFile } from 'node:child_process';
import { access, constants, readFile, realpath, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import { type Answer, answered, declined } from '@idunn/client';
import { controlGroups } from '../doctor/programs.ts';
import type { Facts, SourceText } from '../init/facts.ts';

const run = promisify(execFile);
const ANSWER_MS = 20_000;
const OUTPUT_BYTES = 64 * 1024 * 1024;

/** Limits of what is read: enough to see how a program is started, never a whole monorepo. */
const READ = { files: 600, fileBytes: 256 * 1024, bytes: 16 * 1024 * 1024 };
const MANIFESTS = /(?:^|\/)(?:package\.json|pyproject\.toml|requirements\.txt|go\.mod|Procfile)$/;
const CODE = /\.(?:[cm]?[jt]sx?|py|go)$/;
const NOT_OURS = /(?:^|\/)(?:node_modules|vendor|third_party|dist|\.venv|venv)\//;
const DATABASES = ['*.db', '*.sqlite', '*.sqlite3'];

/** Looks at a repository and at the programs of this machine. Only reads. */
export async function readFacts(
  directory: string,
  path: string | undefined,
  interpreter: string | undefined,
): Promise<Answer<Facts>> {
  const git = async (...words: string[]): Promise<string> =>
    (await run('git', ['-C', directory, ...words], { timeout: ANSWER_MS, maxBuffer: OUTPUT_BYTES })).stdout;
  const line = async (...words: string[]): Promise<string | null> =>
    (await git(...words).catch(() => '')).trim() || null;
  const repository = await line('rev-parse', '--show-toplevel');
  const commit = await line('rev-parse', '--verify', 'HEAD');
  const ref = await line('symbolic-ref', '--quiet', 'HEAD');
  if (repository === null || commit === null || ref === null) {
    const lacks =
      repository === null
        ? 'is in no Git work tree'
        : commit === null
          ? 'has no commit yet'
          : 'is on no branch (a detached HEAD)';
    return declined(
      'init-repository-unusable',
      `${directory} ${lacks}`,
      'Run git init, commit the program on a branch, and run idunn init again.',
    );
  }
  const listed = async (...words: string[]): Promise<string[]> =>
    (await git('ls-files', '-z', ...words).catch(() => '')).split('\0').filter((file) => file !== '');
  const tracked = await listed();
  const remote = await line('remote', 'get-url', 'origin');
  return answered({
    repository,
    prefix: ((await line('rev-parse', '--show-prefix')) ?? '').replace(/\/$/, ''),
    commit,
    ref,
    remote: remote?.startsWith('https://') === true && !remote.includes('@') ? remote : null,
    tracked,
    untracked: await listed('--others', '--exclude=node_modules', '--', ...DATABASES),
    texts: await readTexts(directory, tracked),
    programs: await findPrograms(
      ['node', 'npm', 'python3', 'go', ...(interpreter === undefined ? [] : [interpreter])],
      path,
    ),
    controlGroups: (await controlGroups()).verdict === 'good',
  });
}

async function readTexts(directory: string, tracked: readonly string[]): Promise<SourceText[]> {
  const wanted = tracked
    .filter((file) => !NOT_OURS.test(file) && (MANIFESTS.test(file) || CODE.test(file)))
    .toSorted((a, b) => depth(a) - depth(b) || (a < b ? -1 : 1));
  const texts: SourceText[] = [];
  let bytes = 0;
  for (const file of wanted.slice(0, READ.files)) {
    const found = await stat(join(directory, file)).catch(() => null);
    if (found?.isFile() !== true || found.size > READ.fileBytes || bytes + found.size > READ.bytes) continue;
    bytes += found.size;
    texts.push({ path: file, text: await readFile(join(directory, file), 'utf8') });
  }
  return texts;
}

const depth = (file: string): number => file.split('/').length;

/** How an interpreter says which file it really is: one on the path may be a shim that a version manager put there. */
const OWN_FILE: Readonly<Record<string, readonly string[]>> = {
  node: ['-p', 'process.execPath'],
  python3: ['-c', 'import os, sys; print(os.path.realpath(sys.executable))'],
};

async function findPrograms(
  names: readonly string[],
  path: string | undefined,
): Promise<Record<string, string | null>> {
  const found = names.map(async (name): Promise<[string, string | null]> => {
    const file = await onPath(name, path);
    const ask = OWN_FILE[name];
    if (file === null || ask === undefined) return [name, file];
    const said = await run(file, [...ask], { timeout: ANSWER_MS }).then(
      ({ stdout }) => stdout.trim(),
      () => '',
    );
    return [name, isAbsolute(said) ? await realpath(said).catch(() => file) : file];
  });
  return Object.fromEntries(await Promise.all(found));
}

async function onPath(name: string, path = '/usr/local/bin:/usr/bin:/bin'): Promise<string | null> {
  if (name.includes('/')) return null;
  for (const directory of path.split(delimiter)) {
    if (!isAbsolute(directory)) continue;
    const file = join(directory, name);
    const runs = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (runs) return file;
  }
  return null;
}
