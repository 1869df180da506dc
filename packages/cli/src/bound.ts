import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

const BINDING = '.toml';

/** The targets of a fleet by the names of their binding files, without a daemon; `null` when they cannot be listed. */
export async function boundTargets(fleet: string): Promise<readonly string[] | null> {
  const files = await readdir(join(fleet, 'bindings')).catch(() => null);
  if (files === null) return null;
  const bindings = files.filter((file) => file.endsWith(BINDING));
  return bindings.map((file) => file.slice(0, -BINDING.length)).toSorted((a, b) => a.localeCompare(b));
}
