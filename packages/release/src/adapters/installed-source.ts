import { constants } from 'node:fs';
import { chmod, copyFile, mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { digestBytes, type Outcome, ok, refusal, refused } from '@idunn/kernel';
import type { SourceFacts } from '../model/source-facts.ts';
import type { SourcePort } from '../ports/source-port.ts';
import { staysInside } from '../source/links.ts';
import { stagePaths } from '../source/stage-paths.ts';
import { unsafePath } from '../source/tree-path.ts';
import { verifiedTreeDigest } from './stages.ts';
import { objectId, treeIdOf } from './tree-id.ts';
import { type Walked, walk } from './walk.ts';

export const INSTALLED_ORIGIN = 'idunn:installed';

/**
 * Idunn's own installed bytes as a source: a directory takes the place of a repository, and the digest of its tree,
 * in git's SHA-256 object format, that of the commit. Everything after it (stage, seal, install) is as for any other
 * source.
 */
export function createInstalledSource(options: {
  readonly directory: string;
  readonly stages: string;
  readonly recipe: string;
}): SourcePort {
  const { directory, stages, recipe } = options;
  return {
    async resolve({ ref, recipePath }) {
      const entries = await safeEntries(directory);
      if (!entries.ok) return entries;
      const tree = await treeIdOf(directory, { objectFormat: 'sha256', gitlinks: [] });
      const facts: SourceFacts = {
        origin: INSTALLED_ORIGIN,
        ref,
        selection: 'pinned-object',
        objectFormat: 'sha256',
        commit: tree,
        tree,
        recipePath,
        recipeBlob: objectId('sha256', 'blob', Buffer.from(recipe)).toString('hex'),
        recipeDigest: digestBytes(recipe),
        gitlinks: [],
        lfsPointers: 'refuse',
        authorization: null,
        minimumRevision: tree,
      };
      return ok({ facts, recipe: Buffer.from(recipe).toString('base64'), fetchMs: 0 });
    },

    async stage(_target, facts, stage, signal) {
      const entries = await safeEntries(directory);
      if (!entries.ok) return entries;
      const { tree } = stagePaths(stages, stage);
      for (const entry of entries.value) {
        if (signal.aborted) return refused(refusal('work-aborted', 'The copy of the installed files was withdrawn.'));
        await copyEntry(directory, tree, entry);
      }
      if ((await treeIdOf(tree, facts)) === facts.tree) return ok(verifiedTreeDigest(facts));
      return refused(refusal('stage-mismatch', `The installed files in ${directory} changed since they were planned.`));
    },
  };
}

async function safeEntries(directory: string): Promise<Outcome<readonly Walked[]>> {
  const entries = await walk(directory);
  const links = new Map(
    entries.flatMap((entry) => (entry.kind === 'link' ? [[entry.path, entry.target] as const] : [])),
  );
  for (const entry of entries) {
    const why = entry.kind === 'other' ? 'it is no regular file' : unsafePath(entry.path);
    if (why !== null)
      return refused(refusal('source-path-unsafe', `${entry.path} of ${directory} cannot be sealed: ${why}.`));
    if (entry.kind === 'link' && !staysInside(links, entry.path)) {
      return refused(refusal('source-link-leaves-tree', `${entry.path} of ${directory} links to ${entry.target}.`));
    }
  }
  return ok(entries);
}

async function copyEntry(from: string, to: string, entry: Walked): Promise<void> {
  const path = join(to, entry.path);
  switch (entry.kind) {
    case 'directory':
      await mkdir(path, { mode: 0o700 });
      return;
    case 'link':
      await symlink(entry.target, path);
      return;
    case 'file':
      await copyFile(join(from, entry.path), path, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
      await chmod(path, entry.executable ? 0o755 : 0o644);
      return;
    case 'other':
      throw new TypeError('an unchecked entry');
  }
}
