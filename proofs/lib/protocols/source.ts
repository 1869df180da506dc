import { cpSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { commitAll, git } from '../../../scripts/lib/ghostlight-source.mjs';
import type { Fleet } from '../../../tests/e2e/lib/fleet.ts';
import { portOf } from '../stage.ts';

const ROOT = join(import.meta.dirname, '../../..');

/** Two targets of one repository, each with a stable route. */
export interface Protocols {
  readonly sitePort: number;
  readonly echoPort: number;
  /** Where the build that the route serves listens itself; throws while that cannot be seen. */
  sitePrivatePort(): Promise<number>;
  /** Commits a change and deploys one of them; answers its outcome. */
  deploy(target: 'site' | 'echo'): ReturnType<Fleet['up']>;
}

/** From the start of the fleet's block of ports: the stable ones, and a private range for each. */
const PLACES = {
  site: { stable: 15, from: 1, to: 6, protocol: 'http' },
  echo: { stable: 16, from: 7, to: 12, protocol: 'tcp' },
} as const;

/** Makes the repository of both programs and binds them in the fleet. */
export async function protocolsIn(fleet: Fleet): Promise<Protocols> {
  const repository = join(fleet.work, 'protocols');
  mkdirSync(join(repository, 'deployment'), { recursive: true });
  git(repository, 'init', '--quiet', '--initial-branch=main');
  cpSync(join(import.meta.dirname, 'app'), join(repository, 'app'), { recursive: true });
  cpSync(join(ROOT, 'packages/workload/dist'), join(repository, 'app/workload'), {
    recursive: true,
    filter: (path) => !/\.map$|\.d\.ts$|\.tsbuildinfo$|\/testing$/.test(path),
  });
  cpSync(join(ROOT, 'node_modules/ws'), join(repository, 'app/node_modules/ws'), { recursive: true });
  for (const name of ['site', 'echo']) {
    const recipe = await readFile(join(import.meta.dirname, `${name}.recipe.toml`), 'utf8');
    await writeFile(join(repository, `deployment/${name}.toml`), recipe);
  }
  const first = commitAll(repository, 'Both programs');
  const base = portOf(fleet);
  for (const [name, place] of Object.entries(PLACES)) {
    writeFileSync(join(fleet.directory, `bindings/${name}.toml`), bindingOf(name, place, base, repository, first));
  }
  let changes = 0;
  return {
    sitePort: base + PLACES.site.stable,
    echoPort: base + PLACES.echo.stable,
    async sitePrivatePort() {
      const status = await fleet.client.status();
      const site = status.ok ? status.value.targets.find(({ target }) => target === 'site') : undefined;
      const backend = site?.route?.members[0]?.backend;
      if (backend === undefined) throw new Error('no build of site is seen to serve');
      return Number(backend.slice(backend.lastIndexOf(':') + 1));
    },
    async deploy(target) {
      await writeFile(join(repository, `app/change-of-${target}`), `${++changes}\n`);
      commitAll(repository, `Change ${changes}`);
      return fleet.up(target);
    },
  };
}

function bindingOf(
  name: string,
  { stable, from, to, protocol }: { stable: number; from: number; to: number; protocol: string },
  base: number,
  repository: string,
  minimumRevision: string,
): string {
  return `schema = "idunn.binding/v1"
target = "${name}"

[source]
origin = "${repository}"
ref = "refs/heads/main"
minimum_revision = "${minimumRevision}"
recipe = "deployment/${name}.toml"

[interpreter.node]
path = "${realpathSync(join(ROOT, 'node_modules/.bin/node'))}"

[workload]
single_process = true

[endpoint]
from_port = ${base + from}
to_port = ${base + to}

[route]
protocol = "${protocol}"
listen = { host = "127.0.0.1", port = ${base + stable} }

[rollout]
drain_ms = 2_000
`;
}
