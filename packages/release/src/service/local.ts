import { join } from 'node:path';
import { type Clock, type Evidence, type Ids, ok, type SigningKey } from '@idunn/kernel';
import { createDigestMemo } from '../adapters/digest-memo.ts';
import { createHost } from '../adapters/host.ts';
import { createHttpsInputs } from '../adapters/https-inputs.ts';
import { createInstalledSource } from '../adapters/installed-source.ts';
import { createReleaseStore } from '../adapters/release-store.ts';
import { createStages } from '../adapters/stages.ts';
import { type AuthorizationBook, unauthorized } from '../authorization/book.ts';
import type { CarriedBuilds } from '../carry/shelf.ts';
import type { Directories } from '../fleet/directories.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { ReleasePort } from '../ports/release-port.ts';
import type { RunnerPort } from '../ports/runner-port.ts';
import type { SourcePort } from '../ports/source-port.ts';
import { type InstalledTarget, installedBinding, installedRecipe } from './installed-target.ts';
import { createReleaseService } from './service.ts';

export interface LocalReleaseOptions {
  readonly fleet: () => Fleet;
  readonly machine: string;
  readonly directories: Pick<Directories, 'cache' | 'releases'>;
  /** A source driver and a runner that share `stagesDirectory(cache)`. */
  readonly source: SourcePort;
  readonly runner: RunnerPort;
  /** Whose word selects the commits of targets that ask for one; without a book nobody said a word. */
  readonly authorizations?: Pick<AuthorizationBook, 'current'>;
  /** Builds that other fleets sealed; without a shelf every build is made here. */
  readonly builds?: CarriedBuilds;
  readonly key: SigningKey;
  /** The enrolled service signer of a target. */
  readonly signer: (target: string) => Promise<Evidence<{ readonly keyId: string; readonly publicKey: string }>>;
  readonly uid: number;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly installed?: readonly InstalledTarget[];
  /** Certificates that input downloads trust in place of the system's, in PEM. */
  readonly ca?: string;
}

const NOBODY: Pick<AuthorizationBook, 'current'> = {
  current: ({ target }) => Promise.resolve(unauthorized(target)),
};

const NOTHING_CARRIED: CarriedBuilds = { place: () => Promise.resolve(ok(null)) };

/** Where the stages of a cache directory are. */
export const stagesDirectory = (cache: string): string => join(cache, 'stages');

/** The release room on this machine's own disk. */
export function createLocalReleaseService(options: LocalReleaseOptions): ReleasePort {
  const { directories, machine, ids, clock, uid, ca } = options;
  const stages = stagesDirectory(directories.cache);
  const digests = createDigestMemo(clock);
  return createReleaseService({
    fleet: options.fleet,
    machine,
    source: options.source,
    runner: options.runner,
    authorizations: options.authorizations ?? NOBODY,
    builds: options.builds ?? NOTHING_CARRIED,
    key: options.key,
    clock,
    ids,
    inputs: createHttpsInputs({
      cache: join(directories.cache, 'inputs'),
      stages,
      ids,
      ...(ca === undefined ? {} : { ca }),
    }),
    host: createHost({ digests, uid, signer: options.signer }),
    stages: createStages(stages),
    releases: createReleaseStore({ directory: directories.releases, stages, digests }),
    installed: (options.installed ?? []).map((installed) => {
      const binding = installedBinding(installed, machine);
      if (!binding.ok) throw new TypeError(binding.refusal.reason);
      const recipe = installedRecipe(installed);
      return {
        binding: binding.value,
        source: createInstalledSource({ directory: installed.directory, stages, recipe }),
      };
    }),
  });
}
