import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { RecordKind } from '@idunn/kernel';
import { type Repository, ROOT } from './repository.ts';

/** A list of record kinds that some room registers, and the folder of its golden files. */
export interface Registered {
  readonly room: string;
  readonly name: string;
  readonly kinds: readonly RecordKind[];
  readonly golden: URL;
}

const DECLARED = /\bexport const (\w+)\s*:\s*readonly RecordKind\[\]/g;

/** Every list of record kinds that product code declares, whether its front door shows it or not. */
export async function registeredKinds(repository: Repository): Promise<readonly Registered[]> {
  const found: Registered[] = [];
  for (const file of repository.files.values()) {
    if (file.role !== 'product' || file.room === null) continue;
    for (const [, name = ''] of file.code.matchAll(DECLARED)) {
      const module = (await import(pathToFileURL(join(ROOT, file.path)).href)) as Record<string, readonly RecordKind[]>;
      const golden = pathToFileURL(`${join(ROOT, 'packages', file.room, 'golden')}/`);
      found.push({ room: file.room, name, kinds: module[name] ?? [], golden });
    }
  }
  return found;
}

/** Folders whose files are written once: golden records, and vectors that other languages are held to. */
const WRITTEN_ONCE = ['packages/*/golden/*', 'packages/*/src/golden/*', 'packages/*/vectors/*'];

/** Every golden file of a released version that is gone or says something else now. */
export function editedSinceRelease(root: string): readonly string[] {
  const git = (...args: string[]): readonly string[] =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8' })
      .split('\n')
      .filter((line) => line !== '');
  return git('tag', '--list', 'v*').flatMap((tag) =>
    git('diff', '--name-only', '--no-renames', '--diff-filter=MDT', tag, '--', ...WRITTEN_ONCE).map(
      (file) => `${file} (since ${tag})`,
    ),
  );
}
