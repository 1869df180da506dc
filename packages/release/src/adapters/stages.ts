import { lstat, mkdir, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Digest, digestBytes, digestJson, type Outcome, ok, refusal, refused } from '@idunn/kernel';
import type { ArtifactSpec } from '../model/plan.ts';
import type { ArtifactFile, SealedArtifact } from '../model/sealed-release.ts';
import type { SourceFacts } from '../model/source-facts.ts';
import type { StageId } from '../ports/source-port.ts';
import type { StagePort } from '../ports/stage-port.ts';
import { sealedArtifact } from '../seal/artifact.ts';
import { staysInside } from '../source/links.ts';
import { stagePaths, targetOf } from '../source/stage-paths.ts';
import { atOnce, FILES_AT_ONCE } from './at-once.ts';
import { absentAsNull, digestFile, removeTree } from './files.ts';
import { treeIdOf } from './tree-id.ts';
import { TreeTooLarge, type Walked, walk } from './walk.ts';

/** Written when the exact tree is in the stage, removed before anything may change it. */
const MARK = 'exact';

/** The digest by which a verified tree is known: git's id may be SHA-1, so it stands beside its format. */
export const verifiedTreeDigest = (facts: Pick<SourceFacts, 'objectFormat' | 'tree'>): Digest =>
  digestJson({ objectFormat: facts.objectFormat, tree: facts.tree });

export function createStages(directory: string): StagePort {
  const list = async (): Promise<readonly StageId[]> =>
    ((await readdir(directory).catch(absentAsNull)) ?? []).filter((name) => /-[0-9a-f]{64}$/.test(name));
  const discard = async (stage: StageId): Promise<void> => removeTree(stagePaths(directory, stage).root);
  return {
    list,
    discard,

    async begin(target, stage, keep) {
      for (const other of await list()) {
        const ofTarget = targetOf(other) === target;
        if (ofTarget && (other === stage || !keep.has(other))) await discard(other);
      }
      const { root, tree, inputs, home, temporary, logs } = stagePaths(directory, stage);
      await mkdir(root, { recursive: true, mode: 0o700 });
      for (const path of [tree, inputs, home, temporary, logs]) await mkdir(path, { mode: 0o700 });
      return ok('empty');
    },

    async verified(stage, facts) {
      const { root, tree } = stagePaths(directory, stage);
      const mark = await readFile(join(root, MARK), 'utf8').catch(absentAsNull);
      if (mark !== null) return (await treeIdOf(tree, facts)) === facts.tree ? verifiedTreeDigest(facts) : null;
      return null;
    },

    async mark(stage) {
      // It need not be durable: without it the tree is staged again, and it never stands for the tree without a digest.
      await writeFile(join(stagePaths(directory, stage).root, MARK), '', { mode: 0o400 });
    },

    async spoil(stage) {
      await rm(join(stagePaths(directory, stage).root, MARK), { force: true });
    },

    async fileDigest(stage, path) {
      const { tree } = stagePaths(directory, stage);
      const file = join(tree, path);
      const [real, top] = await Promise.all([realpath(file).catch(absentAsNull), realpath(tree)]);
      if (real !== join(top, path) || !(await lstat(real)).isFile()) return null;
      return digestFile(real);
    },

    artifact: (stage, spec) => {
      const { tree, inputs } = stagePaths(directory, stage);
      return spec.from === 'input' ? inputOf(inputs, spec) : artifactOf(tree, spec);
    },
  };
}

/** A pinned input as an executable file of the release. */
async function inputOf(inputs: string, spec: ArtifactSpec): Promise<Outcome<SealedArtifact>> {
  const path = join(inputs, spec.path);
  const stat = await lstat(path).catch(absentAsNull);
  if (stat === null || !stat.isFile()) return missing(spec, 'is not among the pinned inputs');
  const file = { path: '', digest: await digestFile(path), bytes: stat.size, executable: true };
  return ok(sealedArtifact(spec.id, 'file', [file]));
}

const missing = (spec: ArtifactSpec, why: string): Outcome<never> =>
  refused(refusal('artifact-missing', `Artifact ${spec.id}: ${spec.path} ${why}.`));
const unsafe = (spec: ArtifactSpec, path: string, why: string): Outcome<never> =>
  refused(refusal('artifact-unsafe', `Artifact ${spec.id}: ${path} ${why}.`));

async function artifactOf(tree: string, spec: ArtifactSpec): Promise<Outcome<SealedArtifact>> {
  const path = join(tree, spec.path);
  const stat = await lstat(path).catch(absentAsNull);
  if (stat === null) return missing(spec, 'does not exist after the steps ran');
  // A link above the artifact could lead anywhere on the host (I11).
  const [real, realTree] = [await realpath(path), await realpath(tree)];
  if (real !== realTree && !real.startsWith(`${realTree}/`))
    return unsafe(spec, spec.path, 'is reached by a link that leaves the stage');
  if (spec.kind === 'file') {
    if (!stat.isFile()) return missing(spec, 'is not a regular file');
    const file = { path: '', digest: await digestFile(path), bytes: stat.size, executable: (stat.mode & 0o100) !== 0 };
    return ok(sealedArtifact(spec.id, 'file', [file]));
  }
  if (!stat.isDirectory()) return missing(spec, 'is not a directory');
  let entries: readonly Walked[];
  try {
    entries = await walk(path);
  } catch (error) {
    if (error instanceof TreeTooLarge) return unsafe(spec, spec.path, 'holds too many entries');
    throw error;
  }
  const links = new Map(
    entries.flatMap((entry) => (entry.kind === 'link' ? [[entry.path, entry.target] as const] : [])),
  );
  const files: ArtifactFile[] = [];
  const regular: Extract<Walked, { kind: 'file' }>[] = [];
  for (const entry of entries) {
    if (entry.kind === 'directory') continue;
    if (!entry.path.isWellFormed() || entry.path.includes('\uFFFD'))
      return unsafe(spec, entry.path, 'has a name that is not UTF-8');
    if (entry.kind === 'other') return unsafe(spec, entry.path, 'is neither a regular file nor a link');
    if (entry.kind === 'link') {
      if (!staysInside(links, entry.path))
        return unsafe(spec, entry.path, `is a link to ${entry.target}, outside the artifact`);
      const bytes = Buffer.byteLength(entry.target);
      files.push({ path: entry.path, digest: digestBytes(entry.target), bytes, executable: false, link: entry.target });
      continue;
    }
    regular.push(entry);
  }
  await atOnce(FILES_AT_ONCE, regular, async ({ path: name, bytes, executable }) => {
    files.push({ path: name, digest: await digestFile(join(path, name)), bytes, executable });
  });
  return ok(sealedArtifact(spec.id, 'directory', files));
}
