import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Fleet } from '../../tests/e2e/lib/fleet.ts';

const MAIN = `import { Idunn } from './vendor/workload/index.js';
const idunn = await Idunn.connect({ stateSchema: null, capabilities: [] });
idunn.active();
`;

const recipe = (target: string) => `schema = "idunn.recipe/v1"
target = "${target}"

[[artifact]]
id = "app"
path = "crowd"
kind = "directory"

[service]
artifact = "app"
path = "main.js"
interpreter = "node"

[health]
kind = "idunn"
freshness_ms = 300_000
`;

/**
 * Adds targets that do nothing but live: one small stateless program, a recipe and a binding for each. Answers their
 * names.
 */
export async function addCrowd(fleet: Fleet, count: number): Promise<readonly string[]> {
  const names = Array.from({ length: count }, (_, index) => `crowd-${index + 1}`);
  const files: Record<string, string> = { 'crowd/main.js': MAIN, 'crowd/package.json': '{ "type": "module" }\n' };
  for (const name of names) files[`deployment/${name}.toml`] = recipe(name);
  await mkdir(join(fleet.repository, 'crowd'), { recursive: true });
  await cp(join(fleet.repository, 'vendor'), join(fleet.repository, 'crowd/vendor'), { recursive: true });
  await fleet.commit(files, 'A crowd');
  const model = await readFile(join(fleet.directory, 'bindings/ghostlight.toml'), 'utf8');
  const kept = (name: string): string => new RegExp(`^${name} = .*$`, 'm').exec(model)?.[0] ?? '';
  for (const name of names) {
    const file = join(fleet.directory, `bindings/${name}.toml`);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(
      file,
      `schema = "idunn.binding/v1"
target = "${name}"

[source]
${kept('origin')}
${kept('ref')}
${kept('minimum_revision')}
recipe = "deployment/${name}.toml"

[interpreter.node]
${kept('path')}

[workload]
single_process = true
`,
    );
  }
  return names;
}
