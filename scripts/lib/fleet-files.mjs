import { existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { OWN_NODE } from './preparation.mjs';

/** Where the service ports of fleets that are made here lie; each fleet takes a block of its own. */
const PORTS = { from: 21_000, to: 29_000, block: 20 };

/** True when the loopback port can be bound now. */
const isFree = (port) =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => server.close(() => resolve(true)));
  });

/** A block of free ports, looked for from a place that the seed gives, so that two fleets rarely meet. */
export async function freePorts(seed) {
  const blocks = (PORTS.to - PORTS.from) / PORTS.block;
  for (let step = 0; step < blocks; step++) {
    const from = PORTS.from + ((seed + step) % blocks) * PORTS.block;
    const ports = Array.from({ length: PORTS.block }, (_, index) => from + index);
    if ((await Promise.all(ports.map(isFree))).every(Boolean)) return { from, to: from + PORTS.block - 1 };
  }
  throw new Error(`No block of ${PORTS.block} free ports lies between ${PORTS.from} and ${PORTS.to}.`);
}

/**
 * Writes `fleet.toml` and the binding of ghostlight, unless they are there: what was picked once is kept. Makes the
 * state root.
 *
 * @param {{ fleet: string, id: string, work: string, runtime: string, cache?: string, repository: string,
 * minimumRevision: string, ports: { from: number, to: number } }} options
 */
export function writeFleet({ fleet, id, work, runtime, cache, repository, minimumRevision, ports }) {
  const node = realpathSync(OWN_NODE);
  // The disk of a state is the operator's to bring: Idunn never makes a state root.
  mkdirSync(join(work, 'world'), { recursive: true, mode: 0o700 });
  writeOnce(
    join(fleet, 'fleet.toml'),
    `schema = "idunn.fleet/v1"
id = "${id}"

[directories]
state = "${join(work, 'state')}"
runtime = "${runtime}"
releases = "${join(work, 'releases')}"
logs = "${join(work, 'logs')}"
cache = "${cache ?? join(work, 'cache')}"

[ports]
from = ${ports.from + 1}
to = ${ports.to - 1}

[profiles]
all = ["ghostlight"]
`,
  );
  writeOnce(
    join(fleet, 'bindings/ghostlight.toml'),
    `schema = "idunn.binding/v1"
target = "ghostlight"
capabilities = ["ghostlight.world"]

${builtBy({ repository, minimumRevision, interpreter: 'node', path: node })}

[state]
root = "${join(work, 'world')}"

[workload]
single_process = true

[endpoint]

[route]
listen = { host = "127.0.0.1", port = ${ports.from} }

[rollout]
drain_ms = 10000
`,
  );
}

/**
 * Writes the binding of almanac into a fleet that is there, unless it has one.
 *
 * @param {{ fleet: string, work: string, repository: string, minimumRevision: string, python: string, port: number }}
 * options
 */
export function writeAlmanac({ fleet, work, repository, minimumRevision, python, port }) {
  mkdirSync(join(work, 'almanac'), { recursive: true, mode: 0o700 });
  writeOnce(
    join(fleet, 'bindings/almanac.toml'),
    `schema = "idunn.binding/v1"
target = "almanac"

${builtBy({ repository, minimumRevision, interpreter: 'python3', path: python })}

[state]
root = "${join(work, 'almanac')}"

[environment]
PORT = { slot = "endpoint-port" }
HOST = { slot = "endpoint-host" }
DATABASE_PATH = { slot = "state-path:entries" }

[workload]
single_process = true

[endpoint]

[route]
listen = { host = "127.0.0.1", port = ${port} }

[rollout]
drain_ms = 10000
`,
  );
}

/** Where a program comes from, and what builds and runs it. */
const builtBy = ({ repository, minimumRevision, interpreter, path }) => `[source]
origin = "${repository}"
ref = "refs/heads/main"
minimum_revision = "${minimumRevision}"

[runner.build]
kind = "host-native"
allowed_programs = { ${interpreter} = "${path}" }
environment = { PATH = "${dirname(path)}:/usr/bin:/bin" }

[interpreter.${interpreter}]
path = "${path}"`;

function writeOnce(file, text) {
  if (existsSync(file)) return;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
