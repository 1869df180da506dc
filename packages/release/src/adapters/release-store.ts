import { chmod, lstat, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { canonicalJson, type Digest, digestBytes, isDigest, type Outcome, ok, refusal, refused } from '@idunn/kernel';
import type { ArtifactSpec } from '../model/plan.ts';
import type { ArtifactFile, SealedRelease } from '../model/sealed-release.ts';
import type { StageId } from '../ports/source-port.ts';
import type { ReleaseStorePort } from '../ports/stage-port.ts';
import { readReleaseRecord } from '../seal/record.ts';
import { stagePaths } from '../source/stage-paths.ts';
import { artifactDifference, copyOne } from './artifact-files.ts';
import { atOnce, FILES_AT_ONCE } from './at-once.ts';
import type { DigestMemo } from './digest-memo.ts';
import { absentAsNull, removeTree, syncPath, writeDurably } from './files.ts';

export const RECORD = 'release.json';
export const PROVENANCE = 'provenance.json';
/** Which release a plan was sealed as; only a short cut, made again when it is lost. */
const PLANS = 'plans';

export interface ReleaseStoreOptions {
  /** The fleet's release directory. */
  readonly directory: string;
  /** The authority's stage directory. */
  readonly stages: string;
  readonly digests: DigestMemo;
}

/** Where a sealed release is installed: `<releases>/<64 hexadecimal digits>`; an artifact is `<that>/<artifact id>`. */
export function releaseDirectory(releases: string, release: Digest): string {
  if (!isDigest(release)) throw new TypeError('not a release digest');
  return join(releases, release.slice('sha256:'.length));
}

export function createReleaseStore({ directory, stages, digests }: ReleaseStoreOptions): ReleaseStorePort {
  const verify = (release: Digest): Promise<Outcome<SealedRelease>> =>
    verifyRelease(releaseDirectory(directory, release), release, digests);
  const planFile = (plan: Digest): string => join(directory, PLANS, plan.slice('sha256:'.length));
  const remove = async (release: Digest): Promise<void> => {
    const root = releaseDirectory(directory, release);
    // Without its record it is no release any more, however far the deletion comes (F27).
    await chmod(root, 0o700).catch(absentAsNull);
    await rm(join(root, RECORD), { force: true });
    await removeTree(root);
    for (const name of (await readdir(join(directory, PLANS)).catch(absentAsNull)) ?? []) {
      const file = join(directory, PLANS, name);
      if ((await readFile(file, 'utf8')) === release) await rm(file, { force: true });
    }
  };

  return {
    verify,
    remove,

    async install(release, provenance, stage, specs) {
      const root = releaseDirectory(directory, release.release);
      if ((await lstat(join(root, RECORD)).catch(absentAsNull)) !== null) {
        const existing = await verify(release.release);
        return existing.ok ? ok('installed') : existing;
      }
      if ((await lstat(root).catch(absentAsNull)) !== null) await remove(release.release);
      await mkdir(root, { recursive: true, mode: 0o700 });
      const copied = await copyArtifacts(root, release, stage, specs);
      if (!copied.ok) return copied;
      await writeFile(join(root, PROVENANCE), provenance);
      await chmod(join(root, PROVENANCE), 0o444);
      // F27: every byte and every name is durable before the record is, which is what makes it a release.
      await atOnce(FILES_AT_ONCE, [...copied.value, join(root, PROVENANCE), root, directory], syncPath);
      await writeDurably(join(root, RECORD), `${canonicalJson(release)}\n`, 0o444);
      await chmod(root, 0o555);
      return ok('installed');
    },

    async sealedUnder(plan) {
      const text = await readFile(planFile(plan), 'utf8').catch(absentAsNull);
      return text !== null && isDigest(text) ? text : null;
    },

    async remember(plan, release) {
      await mkdir(join(directory, PLANS), { recursive: true, mode: 0o700 });
      await writeFile(planFile(plan), release, { mode: 0o600 });
    },

    async list() {
      const names = (await readdir(directory).catch(absentAsNull)) ?? [];
      return names.map((name) => `sha256:${name}`).filter(isDigest);
    },
  };

  /** Answers every file and directory that it made, for they are to be made durable. */
  async function copyArtifacts(
    root: string,
    release: SealedRelease,
    stage: StageId,
    specs: readonly ArtifactSpec[],
  ): Promise<Outcome<readonly string[]>> {
    const { tree, inputs } = stagePaths(stages, stage);
    const directories = new Set<string>();
    const files: { readonly from: string; readonly to: string; readonly file: ArtifactFile }[] = [];
    for (const { id, path, from } of specs) {
      const artifact = release.artifacts.find((sealed) => sealed.id === id);
      if (artifact === undefined) throw new TypeError(`the release has no artifact ${id}`);
      if (artifact.kind === 'directory') directories.add(join(root, id));
      for (const file of artifact.files) {
        const to = join(root, id, file.path);
        for (let above = dirname(to); above !== root; above = dirname(above)) directories.add(above);
        files.push({ from: join(from === 'input' ? inputs : tree, path, file.path), to, file });
      }
    }
    const ordered = [...directories].toSorted();
    for (const path of ordered) await mkdir(path, { mode: 0o700 });
    const altered: string[] = [];
    await atOnce(FILES_AT_ONCE, files, async ({ from, to, file }) => {
      if (!(await copyOne(from, to, file))) altered.push(from);
    });
    if (altered[0] !== undefined) {
      return refused(refusal('stage-mismatch', `${altered[0]} changed between being digested and being installed.`));
    }
    for (const path of ordered.toReversed()) await chmod(path, 0o555);
    return ok([...files.filter(({ file }) => file.link === undefined).map(({ to }) => to), ...ordered]);
  }
}

async function verifyRelease(root: string, release: Digest, digests: DigestMemo): Promise<Outcome<SealedRelease>> {
  const text = await readFile(join(root, RECORD), 'utf8').catch(absentAsNull);
  if (text === null) return refused(refusal('release-missing', `The release ${release} is not installed.`));
  const altered = (what: string): Outcome<never> =>
    refused(
      refusal('release-altered', `The release ${release} is not what was sealed: ${what}.`, { detail: { what } }),
    );
  const record = readReleaseRecord(text);
  if (record === null || record.release !== release) return altered(`${RECORD} is not its completion record`);
  const provenance = await readFile(join(root, PROVENANCE), 'utf8').catch(absentAsNull);
  if (provenance === null || digestBytes(provenance) !== record.provenance) return altered(`${PROVENANCE} differs`);
  const expected = new Set([RECORD, PROVENANCE, ...record.artifacts.map(({ id }) => id)]);
  for (const name of await readdir(root)) {
    if (!expected.has(name)) return altered(`${name} does not belong to it`);
  }
  for (const artifact of record.artifacts) {
    const difference = await artifactDifference(join(root, artifact.id), artifact, digests);
    if (difference !== null) return altered(difference);
  }
  return ok(record);
}
