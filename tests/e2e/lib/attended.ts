import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Fleet } from './fleet.ts';
import { oneMoreUser } from './users.ts';

export interface AttendedTarget {
  readonly target: string;
  /** Files of the program, below `<target>/` in the repository. */
  readonly files: Readonly<Record<string, string>>;
  /** Lines of `[service]` after the artifact. */
  readonly service: string;
  /** Lines of `[health]`. */
  readonly health: string;
  /** The interpreter's absolute path under the name that the service gives it. */
  readonly interpreter?: { readonly name: string; readonly path: string };
  /** The stable port; left out for a target without a route. */
  readonly port?: number;
  /** More lines of `[route]`. */
  readonly route?: string;
  /** Lines of `[endpoint]`. */
  readonly endpoint?: string;
  /** Whom it runs as, where that is not the daemon's own user. */
  readonly user?: string;
  /** More of the recipe. */
  readonly recipe?: string;
  /** More of the binding. */
  readonly binding?: string;
}

/** Adds a stateless target of a program that knows nothing of Idunn to a fleet: its files, a recipe and a binding. */
export async function addAttended(fleet: Fleet, added: AttendedTarget): Promise<void> {
  const { target, files, interpreter, port } = added;
  for (const name of Object.keys(files))
    await mkdir(dirname(join(fleet.repository, target, name)), { recursive: true });
  await mkdir(join(fleet.repository, 'deployment'), { recursive: true });
  await fleet.commit({
    ...Object.fromEntries(Object.entries(files).map(([name, text]) => [`${target}/${name}`, text])),
    [`deployment/${target}.toml`]: `schema = "idunn.recipe/v1"
target = "${target}"

[[artifact]]
id = "app"
path = "${target}"
kind = "directory"

[service]
artifact = "app"
${added.service}

[health]
${added.health}
${added.recipe ?? ''}`,
  });
  const model = await readFile(join(fleet.directory, 'bindings/ghostlight.toml'), 'utf8');
  const kept = (name: string): string => new RegExp(`^${name} = .*$`, 'm').exec(model)?.[0] ?? '';
  const listen = `listen = { host = "127.0.0.1", port = ${port} }`;
  const places =
    port === undefined ? '' : `\n[endpoint]\n${added.endpoint ?? ''}\n\n[route]\n${listen}\n${added.route ?? ''}\n`;
  await writeFile(
    join(fleet.directory, `bindings/${target}.toml`),
    `schema = "idunn.binding/v1"
target = "${target}"

[source]
${kept('origin')}
${kept('ref')}
${kept('minimum_revision')}
recipe = "deployment/${target}.toml"
${interpreter === undefined ? '' : `\n[interpreter.${interpreter.name}]\npath = "${interpreter.path}"\n`}
[workload]
${added.user === undefined ? await oneMoreUser(fleet) : `user = "${added.user}"\n`}single_process = true
${places}
[rollout]
drain_ms = 1000
${added.binding ?? ''}`,
  );
}
