import { join } from 'node:path';
import type { RecordOf } from '@idunn/authority';
import type { BuildAnswer, ExportedBuild } from '@idunn/client';
import { type Digest, isDigest, type Outcome, ok, refusal, refused } from '@idunn/kernel';
import type { BuildShelf } from '@idunn/release';
import type { ApiParts } from './api/parts.ts';
import { admitBindings } from './drivers.ts';
import type { Ground } from './ground.ts';
import { dossierOf, newestIncarnation } from './verify/dossier.ts';

/** Builds as the API speaks of them: what is sealed here, and what goes to other fleets or comes from them. */
export function buildParts(ground: Ground, shelf: BuildShelf): Pick<ApiParts, 'build' | 'exportBuild' | 'takeBuild'> {
  const { store, directories } = ground;
  const sealedHere = (build: Digest): Promise<RecordOf<'incarnation'> | null> =>
    newestIncarnation(store, ({ release }) => release.build === build);

  return {
    async build(name) {
      if (!isDigest(name)) return unknown(name);
      const record = await sealedHere(name);
      if (record === null) {
        const taken = await shelf.find(name);
        return taken === null ? unknown(name) : ok(answerOf(taken));
      }
      return ok(answerOf({ build: name, target: record.target, commit: record.release.revision }));
    },
    async exportBuild(name): Promise<Outcome<ExportedBuild>> {
      const record = isDigest(name) ? await sealedHere(name) : null;
      const dossier = record === null ? null : await dossierOf(store, record.incarnation);
      if (dossier === null) return unknown(name);
      const { release } = dossier.record;
      const exported = await shelf.export({ release, plan: dossier.plan }, join(directories.cache, 'exports'));
      if (!exported.ok) return exported;
      const { build, target, revision: commit } = release;
      return ok({ schema: 'idunn.exported-build/v1', build, target, commit, directory: exported.value });
    },
    async takeBuild(target, directory) {
      const reading = await admitBindings(ground, target);
      if (!reading.ok) return reading;
      const { fleet } = reading.value;
      const bound = fleet.bindings.get(target);
      if (bound === undefined) {
        return refused(refusal('target-unknown', `The fleet ${fleet.id} has no valid binding for ${target}.`));
      }
      const taken = await shelf.take(directory, bound.binding.source.builders);
      return taken.ok ? ok(answerOf(taken.value)) : taken;
    },
  };
}

const answerOf = (of: Omit<BuildAnswer, 'schema'>): BuildAnswer => ({ schema: 'idunn.build-view/v1', ...of });

const unknown = (build: string): Outcome<never> =>
  refused(refusal('build-unknown', `${build} is neither sealed here nor taken in from another fleet.`));
