import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Reading } from '../reader.ts';
import type { GitSourceOptions } from '../source.ts';
import { bench } from './bench.ts';
import { temporary } from './repository.ts';

/** Every Debian has it, and it owns nothing. */
export const READER = { name: 'nobody', uid: 65_534 };
export const STRANGER = 12_345;
export const asRoot = { skip: process.getuid?.() !== 0 };

export const reading = (more: Partial<Reading> = {}): Reading => ({ uid: 0, reader: null, originOwners: [], ...more });

/** A root daemon with a reader, and a git that writes down who it is, after whatever else a test has it do. */
export async function separated(
  context: TestContext,
  more: Partial<Reading> = {},
  before = '',
  options: Partial<GitSourceOptions> = {},
) {
  const tools = await temporary(context);
  const [git, ids] = [join(tools, 'git'), join(tools, 'ids')];
  await writeFile(git, `#!/bin/sh\n${before}\necho "$(id -u) $(id -g) $(id -G)" >> ${ids}\nexec /usr/bin/git "$@"\n`);
  await writeFile(ids, '');
  for (const [path, mode] of [
    [git, 0o755],
    [ids, 0o666],
  ] as const)
    await chmod(path, mode);
  const base = await bench(context, 'sha1', {
    git,
    reading: () => reading({ reader: READER.name, ...more }),
    place: 'cache/git',
    ...options,
  });
  const who = async () => new Set((await readFile(ids, 'utf8')).trim().split('\n'));
  return { ...base, who };
}
