import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { type Answer, answered, declined, FLEET_FILE, locateFleet } from '@idunn/client';
import type { Environment } from '../edge/environment.ts';
import { exists, isFreePort } from '../edge/write-once.ts';
import { fleetText } from './write/fleet.ts';

/** The fleet that a target is added to, and what it gets there. */
export interface FleetPlace {
  readonly directory: string;
  /** fleet.toml of a fleet that is made now; `null` for one that is there. */
  readonly text: string | null;
  /** What `--fleet` must say in the next commands; `null` where the fleet is found without it. */
  readonly flag: string | null;
  readonly stateRoot: string;
  readonly port: number;
}

const PORTS = { from: 8_080, to: 8_279 };
/** A Unix socket's path has 107 bytes; the longest below the runtime directory takes 36 of them. */
const LONGEST_RUNTIME_BYTES = 71;

/** Finds the fleet as every command does; one that `--fleet` names and that is not there is made. */
export async function placeInFleet(
  environment: Environment,
  options: { readonly fleet?: string; readonly port?: number },
  target: string,
): Promise<Answer<FleetPlace>> {
  const { directory: from, home } = environment;
  const named = options.fleet === undefined ? null : resolve(from, options.fleet);
  const fresh = named !== null && !(await exists(join(named, FLEET_FILE)));
  let directory = named;
  if (directory === null || !fresh) {
    const located = await locateFleet({
      option: options.fleet,
      directory: from,
      home,
      variable: (name) => environment.variable(name),
    });
    if (!located.ok) {
      const { code, reason } = located.refusal;
      return declined(code, reason, 'Run idunn init --fleet DIRECTORY: a fleet is made there when there is none.');
    }
    directory = located.value.directory;
  }
  const port = options.port ?? (await freePort(join(directory, 'bindings')));
  return answered({
    directory,
    text: fresh ? fleetText(idOf(directory), runtimeOf(directory)) : null,
    flag: options.fleet === undefined ? null : directory,
    stateRoot: directory === '/etc/idunn' ? `/srv/${target}` : join(directory, 'data', target),
    port,
  });
}

function idOf(directory: string): string {
  const name = basename(directory)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  return name === '' || name.length > 63 ? 'home' : name;
}

function runtimeOf(directory: string): string {
  if (Buffer.byteLength(join(directory, 'run')) <= LONGEST_RUNTIME_BYTES) return 'run';
  return `/tmp/idunn-${userInfo().uid}-${createHash('sha256').update(directory).digest('hex').slice(0, 8)}`;
}

/** The first port that no binding of the fleet names and nobody listens on. */
async function freePort(bindings: string): Promise<number> {
  const names = (await readdir(bindings).catch(() => [])).filter((name) => name.endsWith('.toml'));
  const texts = await Promise.all(names.map((name) => readFile(join(bindings, name), 'utf8').catch(() => '')));
  const taken = new Set(
    texts.flatMap((text) =>
      [...text.matchAll(/\bport\s*=\s*([\d_]+)/g)].map(([, port = '']) => Number(port.replaceAll('_', ''))),
    ),
  );
  for (let port = PORTS.from; port <= PORTS.to; port++) {
    if (!taken.has(port) && (await isFreePort(port))) return port;
  }
  return PORTS.from;
}
