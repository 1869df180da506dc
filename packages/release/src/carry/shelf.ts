import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
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
import { z } from 'zod';
import { copyArtifact } from '../adapters/artifact-files.ts';
import { absentAsNull, removeTree, syncPath, writeDurably } from '../adapters/files.ts';
import { PROVENANCE, RECORD, releaseDirectory } from '../adapters/release-store.ts';
import type { ArtifactSpec, Plan } from '../model/plan.ts';
import type { SealedArtifact, SealedRelease } from '../model/sealed-release.ts';
import type { StageId } from '../ports/source-port.ts';
import { sealedArtifact } from '../seal/artifact.ts';
import { readReleaseRecord, sealedArtifactSchema } from '../seal/record.ts';
import { buildContent } from '../seal/seal.ts';
import { stagePaths } from '../source/stage-paths.ts';
import { type BuildExport, openBuildExport, signBuildExport, statementOf } from './statement.ts';

/** Written last: an export or a taken build is whole when it is there (F27). */
const STATEMENT = 'export.json';
const ARTIFACTS = 'artifacts.json';
const BYTES = 'artifacts';

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
   * there already is answered as it is.
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
}

const nameOf = (build: Digest): string => build.slice('sha256:'.length);

export function createBuildShelf({ directory, releases, stages, key, ids }: BuildShelfOptions): BuildShelf {
  const kept = (build: Digest): string => join(directory, nameOf(build));

  /** Fills a draft beside its place and moves it there whole. */
  async function published(
    beneath: string,
    build: Digest,
    fill: (draft: string) => Promise<Outcome<string>>,
  ): Promise<Outcome<string>> {
    const place = join(beneath, nameOf(build));
    if ((await readFile(join(place, STATEMENT)).catch(absentAsNull)) !== null) return ok(place);
    await mkdir(beneath, { recursive: true, mode: 0o700 });
    const draft = join(beneath, `.${ids.fresh('draft')}`);
    try {
      await mkdir(join(draft, BYTES), { recursive: true, mode: 0o700 });
      const statement = await fill(draft);
      if (!statement.ok) return statement;
      await writeDurably(join(draft, STATEMENT), statement.value, 0o444);
      await removeTree(place);
      await rename(draft, place);
      await syncPath(beneath);
      return ok(place);
    } finally {
      await removeTree(draft);
    }
  }

  async function copyAll(from: string, to: string, artifacts: readonly SealedArtifact[]): Promise<Outcome<'copied'>> {
    for (const artifact of artifacts) {
      const altered = await copyArtifact(join(from, artifact.id), join(to, artifact.id), artifact);
      if (altered !== null) return notAsSealed(altered);
    }
    return ok('copied');
  }

  return {
    export: ({ release, plan }, beneath) =>
      published(beneath, release.build, async (draft) => {
        const root = releaseDirectory(releases, release.release);
        const copied = await copyAll(root, join(draft, BYTES), release.artifacts);
        if (!copied.ok) return copied;
        const provenance = await readFile(join(root, PROVENANCE), 'utf8');
        await writeFile(join(draft, PROVENANCE), provenance);
        await writeFile(join(draft, ARTIFACTS), `${canonicalJson(release.artifacts)}\n`);
        const words = {
          target: release.target,
          content: buildContent(plan, release.artifacts),
          provenance: digestBytes(provenance),
        };
        return ok(`${canonicalJson(signBuildExport(words, key))}\n`);
      }),

    async take(from, builders) {
      const read = await readExport(from, builders);
      if (!read.ok) return read;
      const { statement, text, artifacts, provenance } = read.value;
      const { build } = statement;
      const taken = await published(directory, build, async (draft) => {
        const copied = await copyAll(join(from, BYTES), join(draft, BYTES), artifacts);
        if (!copied.ok) return copied;
        await writeFile(join(draft, PROVENANCE), provenance);
        await writeFile(join(draft, ARTIFACTS), `${canonicalJson(artifacts)}\n`);
        return ok(text);
      });
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
  const artifacts = artifactsOf(await readFile(join(place, ARTIFACTS), 'utf8'));
  const provenance = digestBytes(await readFile(join(place, PROVENANCE)));
  return artifacts === null ? null : { bytes: join(place, BYTES), artifacts, provenance };
}

interface ReadExport {
  readonly statement: BuildExport;
  readonly text: string;
  readonly artifacts: readonly SealedArtifact[];
  readonly provenance: string;
}

/** What an export says, and whether its lists and its provenance are what was signed. */
async function readExport(from: string, builders: readonly string[]): Promise<Outcome<ReadExport>> {
  const [text, list, provenance] = await Promise.all(
    [STATEMENT, ARTIFACTS, PROVENANCE].map((name) => readFile(join(from, name), 'utf8').catch(absentAsNull)),
  );
  if (typeof text !== 'string' || typeof list !== 'string' || typeof provenance !== 'string') {
    return refused(refusal('build-export-missing', `${from} holds no whole export of a build.`));
  }
  const opened = openBuildExport(parsed(text), builders.map(verificationKey));
  if (!opened.ok) return opened;
  const statement = opened.value;
  const artifacts = artifactsOf(list);
  const named = artifacts?.map(({ id, kind, digest }) => ({ id, kind, digest }));
  if (artifacts === null || canonicalJson(named ?? []) !== canonicalJson(statement.content.artifacts)) {
    return notAsSealed(ARTIFACTS);
  }
  if (digestBytes(provenance) !== statement.provenance) return notAsSealed(PROVENANCE);
  return ok({ statement, text, artifacts, provenance });
}

/** The list of files, each artifact carrying its own digest and no path that leaves it; `null` otherwise. */
function artifactsOf(text: string): readonly SealedArtifact[] | null {
  const read = z.array(sealedArtifactSchema).safeParse(parsed(text));
  if (!read.success) return null;
  const own = read.data.every(
    ({ id, kind, digest, files }) =>
      /^[a-z0-9][a-z0-9-]{0,62}$/.test(id) &&
      sealedArtifact(id, kind, files).digest === digest &&
      files.every(({ path }) => path.split('/').every((part) => part !== '..' && (part !== '' || path === ''))),
  );
  return own ? read.data : null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
