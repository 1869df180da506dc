import { lstat, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  canonicalJson,
  type Digest,
  digestBytes,
  type Ids,
  type Outcome,
  ok,
  refusal,
  refused,
  type SigningKey,
  verificationKey,
} from '@idunn/kernel';
import { artifactDifference, copyArtifact } from '../adapters/artifact-files.ts';
import { atOnce, FILES_AT_ONCE } from '../adapters/at-once.ts';
import { absentAsNull, digestFile, readForeign, removeTree, syncPath, writeDurably } from '../adapters/files.ts';
import { PROVENANCE, RECORD, releaseDirectory } from '../adapters/release-store.ts';
import { walk } from '../adapters/walk.ts';
import type { ArtifactSpec, Plan } from '../model/plan.ts';
import type { SealedArtifact, SealedRelease } from '../model/sealed-release.ts';
import type { StageId } from '../ports/source-port.ts';
import { readReleaseRecord } from '../seal/record.ts';
import { buildContent } from '../seal/seal.ts';
import { createLanes, orDiskRefusal } from '../service/work.ts';
import { stagePaths } from '../source/stage-paths.ts';
import { artifactsOf } from './artifact-list.ts';
import { type BuildExport, openBuildExport, signBuildExport, statementOf } from './statement.ts';

/** Written last: an export or a taken build is whole when it is there (F27). */
const STATEMENT = 'export.json';
const ARTIFACTS = 'artifacts.json';
const BYTES = 'artifacts';
const DRAFT = '.draft-';
/** Longest text of an export: a list of very many files. */
const TEXT_LIMIT_BYTES = 64 * 1_048_576;
/** Builds that a shelf keeps without anybody naming them, exported and taken each; the oldest go first. */
export const KEPT_LIMIT = 8;

export interface TakenBuild {
  readonly build: Digest;
  readonly commit: string;
  readonly target: string;
}

/** What sealing takes carried bytes from. */
export interface CarriedBuilds {
  /**
   * Puts the artifacts of a build, each byte compared with its digest, where the plan's steps would have left them.
   * `null` when the build is not here; else the digest of the provenance that came with it.
   */
  place(build: Digest, stage: StageId, specs: readonly ArtifactSpec[]): Promise<Outcome<Digest | null>>;
}

/** Builds that go from fleet to fleet by their bytes. */
export interface BuildShelf extends CarriedBuilds {
  /**
   * Copies a sealed release of this fleet out as a directory `<build>` beneath `directory`, signed. An export that is
   * there already stays when it is whole.
   */
  export(from: { readonly release: SealedRelease; readonly plan: Plan }, directory: string): Promise<Outcome<string>>;
  /** Takes a build in that one of `builders` (raw public keys in base64) exported. A repeat changes nothing. */
  take(directory: string, builders: readonly string[]): Promise<Outcome<TakenBuild>>;
  /** A build that was taken in; `null` when none of that digest was. */
  find(build: Digest): Promise<TakenBuild | null>;
}

export interface BuildShelfOptions {
  /** Where taken builds are kept, by digest. */
  readonly directory: string;
  readonly releases: string;
  readonly stages: string;
  readonly key: SigningKey;
  readonly ids: Ids;
  /** Builds that somebody may still deploy, by a living authorization: none of them is removed (F4). */
  readonly named: () => Promise<readonly Digest[]>;
}

const nameOf = (build: Digest): string => build.slice('sha256:'.length);

export function createBuildShelf({ directory, releases, stages, key, ids, named }: BuildShelfOptions): BuildShelf {
  const kept = (build: Digest): string => join(directory, nameOf(build));
  const lanes = createLanes();
  /** Drafts that are being filled; any other was left behind by a crash. */
  const drafts = new Set<string>();

  /**
   * Puts a build beneath a directory, whole or not at all, one at a time for each place. What is there already stays
   * when it is the same to the last byte; else it is made anew.
   */
  const put = (beneath: string, build: Digest, content: Content): Promise<Outcome<string>> => {
    const place = join(beneath, nameOf(build));
    return lanes(place, () =>
      orDiskRefusal(`Keeping the build ${build}`, async () => {
        if (await holds(place, content)) return ok(place);
        await mkdir(beneath, { recursive: true, mode: 0o700 });
        const draft = join(beneath, `${DRAFT}${ids.fresh('build')}`);
        drafts.add(draft);
        try {
          const filled = await fill(draft, content);
          if (!filled.ok) return filled;
          await removeTree(place);
          await rename(draft, place);
          await syncPath(beneath);
        } finally {
          await removeTree(draft);
          drafts.delete(draft);
        }
        await prune(beneath, { drafts, named: new Set([...(await named()), build].map(nameOf)) });
        return ok(place);
      }),
    );
  };

  return {
    export: async ({ release, plan }, beneath) => {
      const from = releaseDirectory(releases, release.release);
      const provenance = await readForeign(join(from, PROVENANCE), TEXT_LIMIT_BYTES);
      if (provenance === null) return notAsSealed(PROVENANCE);
      const content = buildContent(plan, release.artifacts);
      const words = { target: release.target, content, provenance: digestBytes(provenance) };
      const text = `${canonicalJson(signBuildExport(words, key))}\n`;
      return put(beneath, release.build, { text, provenance, artifacts: release.artifacts, from });
    },

    async take(from, builders) {
      const read = await readExport(from, builders);
      if (!read.ok) return read;
      const { statement, ...content } = read.value;
      const taken = await put(directory, statement.build, content);
      return taken.ok ? ok(takenOf(statement)) : taken;
    },

    async find(build) {
      const text = await readFile(join(kept(build), STATEMENT), 'utf8').catch(absentAsNull);
      const statement = text === null ? null : statementOf(parsed(text));
      return statement === null ? null : takenOf(statement);
    },

    async place(build, stage, specs) {
      const source = (await ownRelease(releases, build)) ?? (await takenBuild(kept(build)));
      if (source === null) return ok(null);
      const { tree } = stagePaths(stages, stage);
      for (const spec of specs) {
        const artifact = source.artifacts.find(({ id }) => id === spec.id);
        if (artifact === undefined) return notAsSealed(spec.id);
        // A pinned input is fetched and verified by itself.
        if (spec.from === 'input') continue;
        const to = join(tree, spec.path);
        await removeTree(to);
        await mkdir(join(to, '..'), { recursive: true, mode: 0o700 });
        const altered = await copyArtifact(join(source.bytes, artifact.id), to, artifact);
        if (altered !== null) return notAsSealed(altered);
      }
      return ok(source.provenance);
    },
  };
}

const notAsSealed = (path: string): Outcome<never> =>
  refused(refusal('build-export-altered', `${path} is not as it was sealed, or is not there.`));

const takenOf = ({ build, target, content }: BuildExport): TakenBuild => ({
  build,
  target,
  commit: content.source.commit,
});

interface Carried {
  readonly bytes: string;
  readonly artifacts: readonly SealedArtifact[];
  readonly provenance: Digest;
}

/** A release of this fleet that came to the build, for a way back without anybody's export. */
async function ownRelease(releases: string, build: Digest): Promise<Carried | null> {
  for (const name of (await readdir(releases).catch(absentAsNull)) ?? []) {
    const text = await readFile(join(releases, name, RECORD), 'utf8').catch(absentAsNull);
    const record = text === null ? null : readReleaseRecord(text);
    if (record?.build !== build) continue;
    return { bytes: join(releases, name), artifacts: record.artifacts, provenance: record.provenance };
  }
  return null;
}

async function takenBuild(place: string): Promise<Carried | null> {
  if ((await readFile(join(place, STATEMENT)).catch(absentAsNull)) === null) return null;
  const artifacts = artifactsOf(parsed(await readFile(join(place, ARTIFACTS), 'utf8')));
  const provenance = digestBytes(await readFile(join(place, PROVENANCE)));
  return artifacts === null ? null : { bytes: join(place, BYTES), artifacts, provenance };
}

/** All that a carried build is: what is said of it, and where its bytes are. */
interface Content {
  /** The signed statement as it is written. */
  readonly text: string;
  readonly artifacts: readonly SealedArtifact[];
  readonly provenance: string;
  /** The directory that holds each artifact under its id. */
  readonly from: string;
}

const listOf = (artifacts: readonly SealedArtifact[]): string => `${canonicalJson(artifacts)}\n`;

async function fill(draft: string, { text, artifacts, provenance, from }: Content): Promise<Outcome<'filled'>> {
  const bytes = join(draft, BYTES);
  await mkdir(bytes, { recursive: true, mode: 0o700 });
  for (const artifact of artifacts) {
    const altered = await copyArtifact(join(from, artifact.id), join(bytes, artifact.id), artifact);
    if (altered !== null) return notAsSealed(altered);
  }
  await writeFile(join(draft, PROVENANCE), provenance);
  await writeFile(join(draft, ARTIFACTS), listOf(artifacts));
  // F27: every byte and every name is durable before the statement is.
  const made = (await walk(draft)).flatMap(({ kind, path }) => (kind === 'link' ? [] : [join(draft, path)]));
  await atOnce(FILES_AT_ONCE, [...made, draft], syncPath);
  await writeDurably(join(draft, STATEMENT), text, 0o444);
  return ok('filled');
}

/** Whether a place holds exactly this, to the last byte. */
async function holds(place: string, { text, artifacts, provenance }: Content): Promise<boolean> {
  const expected = [text, listOf(artifacts), provenance];
  const texts = await Promise.all(
    [STATEMENT, ARTIFACTS, PROVENANCE].map((name) => readForeign(join(place, name), TEXT_LIMIT_BYTES)),
  );
  if (texts.some((found, index) => found !== expected[index])) return false;
  for (const artifact of artifacts) {
    if ((await artifactDifference(join(place, BYTES, artifact.id), artifact, { digest: digestFile })) !== null)
      return false;
  }
  return true;
}

/** Removes all but the newest builds and those that are named; and drafts that a crash left behind. */
async function prune(
  beneath: string,
  keep: { readonly drafts: ReadonlySet<string>; readonly named: ReadonlySet<string> },
): Promise<void> {
  const found: { readonly path: string; readonly changedMs: number }[] = [];
  for (const name of await readdir(beneath)) {
    const path = join(beneath, name);
    if (name.startsWith(DRAFT) && !keep.drafts.has(path)) await removeTree(path);
    const stat = /^[0-9a-f]{64}$/.test(name) && !keep.named.has(name) ? await lstat(path).catch(absentAsNull) : null;
    if (stat !== null) found.push({ path, changedMs: stat.ctimeMs });
  }
  const aged = found.toSorted((a, b) => b.changedMs - a.changedMs).slice(KEPT_LIMIT - 1);
  for (const { path } of aged) await removeTree(path);
}

/** What an export says, and whether its lists and its provenance are what was signed. */
async function readExport(
  from: string,
  builders: readonly string[],
): Promise<Outcome<Content & { readonly statement: BuildExport }>> {
  const [text, list, provenance] = await Promise.all(
    [STATEMENT, ARTIFACTS, PROVENANCE].map((name) => readForeign(join(from, name), TEXT_LIMIT_BYTES)),
  );
  if (typeof text !== 'string' || typeof list !== 'string' || typeof provenance !== 'string') {
    return refused(refusal('build-export-missing', `${from} holds no whole export of a build.`));
  }
  const opened = openBuildExport(parsed(text), builders.map(verificationKey));
  if (!opened.ok) return opened;
  const statement = opened.value;
  const artifacts = artifactsOf(parsed(list));
  const signed = artifacts?.map(({ id, kind, digest }) => ({ id, kind, digest }));
  if (artifacts === null || canonicalJson(signed ?? []) !== canonicalJson(statement.content.artifacts)) {
    return notAsSealed(ARTIFACTS);
  }
  if (digestBytes(provenance) !== statement.provenance) return notAsSealed(PROVENANCE);
  return ok({ statement, text, artifacts, provenance, from: join(from, BYTES) });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
