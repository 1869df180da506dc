import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePorts } from '../../scripts/lib/fleet-files.mjs';
import type { Fleet } from '../../tests/e2e/lib/fleet.ts';

export interface Sibling {
  readonly target: string;
  readonly url: string;
}

/** Most targets with a route that the endpoint ports of a fleet carry, each with a spare activation. */
export const MOST_SIBLINGS = 8;

/**
 * Adds targets that are ghostlight under other names: each with a recipe, a binding, a state and a stable port of its
 * own. The program also says when its process began, by the wall clock, in milliseconds.
 */
export async function addSiblings(fleet: Fleet, count: number): Promise<readonly Sibling[]> {
  await fleet.edit('src/main.js', (text) =>
    text.replace('pid: process.pid,', 'pid: process.pid,\n    beganMs: performance.timeOrigin,'),
  );
  const recipe = await readFile(join(fleet.repository, 'deployment/idunn/recipe.toml'), 'utf8');
  const binding = await readFile(join(fleet.directory, 'bindings/ghostlight.toml'), 'utf8');
  const ports = await freePorts(Number(new URL(fleet.url).port));
  const siblings: Sibling[] = [];
  for (let index = 0; index < count; index += 1) {
    const target = `light-${index + 1}`;
    const root = join(fleet.work, target);
    const port = ports.from + index;
    await mkdir(root, { mode: 0o700 });
    await writeFile(
      join(fleet.repository, `deployment/${target}.toml`),
      recipe.replace('target = "ghostlight"', `target = "${target}"`),
    );
    await writeFile(
      join(fleet.directory, `bindings/${target}.toml`),
      binding
        .replace('target = "ghostlight"', `target = "${target}"`)
        .replace('[source]', `[source]\nrecipe = "deployment/${target}.toml"`)
        .replace(/^root = .*$/m, `root = "${root}"`)
        .replace(/^listen = .*$/m, `listen = { host = "127.0.0.1", port = ${port} }`),
    );
    siblings.push({ target, url: `http://127.0.0.1:${port}` });
  }
  await fleet.commit({}, 'Siblings');
  return siblings;
}
