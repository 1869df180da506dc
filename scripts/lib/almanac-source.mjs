import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { commitAll, git } from './ghostlight-source.mjs';
import { ROOT } from './root.mjs';

const WHERE = 'import os, sys; print(os.path.realpath(sys.executable), sys.version_info >= (3, 9))';

/** The file of this machine's Python, 3.9 or newer, shims followed; `null` where there is none. */
export function findPython() {
  const said = spawnSync('python3', ['-c', WHERE], { encoding: 'utf8' });
  const [file = '', recent] = (said.stdout ?? '').trim().split(' ');
  return said.status === 0 && isAbsolute(file) && recent === 'True' ? file : null;
}

/** Makes the source repository of almanac as the example stands, once; answers the commit of `main`. */
export function almanacRepository(repository) {
  if (existsSync(join(repository, '.git'))) return git(repository, 'rev-parse', 'HEAD');
  mkdirSync(repository, { recursive: true });
  git(repository, 'init', '--quiet', '--initial-branch=main');
  const files = ['almanac.py', 'test_almanac.py', 'README.md', 'deployment'];
  for (const file of files) cpSync(join(ROOT, 'examples/almanac', file), join(repository, file), { recursive: true });
  return commitAll(repository, 'Almanac, as the example stands');
}
