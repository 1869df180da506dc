import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Environment } from '../edge/environment.ts';
import { run } from '../run.ts';

const IDENTITY = ['-c', 'user.name=Test', '-c', 'user.email=test@example.org'];

export const git = (directory: string, ...words: string[]): string =>
  execFileSync('git', ['-C', directory, ...IDENTITY, ...words], { encoding: 'utf8' }).trim();

/** A directory of the test's own that goes with it. */
export async function scratch(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'idunn-init-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

export async function writeAll(directory: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), text);
  }
}

/** A repository with one commit that holds these files. */
export async function repository(directory: string, files: Readonly<Record<string, string>>): Promise<string> {
  await mkdir(directory, { recursive: true });
  git(directory, 'init', '--quiet', '--initial-branch=main');
  await writeAll(directory, files);
  git(directory, 'add', '--all');
  git(directory, 'commit', '--quiet', '--message', 'The program');
  return directory;
}

/** A directory of programs that a machine may have or lack; none of them does anything. */
export async function programs(root: string, names: readonly string[]): Promise<string> {
  const directory = join(root, 'programs');
  for (const name of names) {
    await writeAll(directory, { [name]: '#!/bin/sh\n' });
    await chmod(join(directory, name), 0o755);
  }
  return directory;
}

export interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the command with these words as somebody who stands in `directory`. */
export async function idunn(
  directory: string,
  argv: readonly string[],
  change: Partial<Environment> = {},
): Promise<Said> {
  const out: string[] = [];
  const err: string[] = [];
  const sink = (into: string[]) => ({ write: (text: string) => void into.push(text), terminal: false, columns: 120 });
  const code = await run({
    argv,
    directory,
    home: directory,
    user: { name: 'ada', uid: process.geteuid?.() ?? 0 },
    root: false,
    variable: (name) => (name === 'PATH' ? process.env['PATH'] : undefined),
    out: sink(out),
    err: sink(err),
    nowMs: () => 0,
    every: () => () => undefined,
    after: () => () => undefined,
    onInterrupt: () => () => undefined,
    endInterrupted: () => undefined,
    freshId: (prefix) => `${prefix}-1`,
    ask: () => Promise.resolve(null),
    ...change,
  });
  return { code, out: out.join(''), err: err.join('') };
}
