import type { Outcome } from '@idunn/kernel';
import { stringify } from 'smol-toml';
import { type BindingDocument, parseBinding } from '../binding/parse.ts';

/** A target that is sealed from Idunn's own installed files instead of a repository: the observer. */
export interface InstalledTarget {
  readonly target: string;
  /** Holds exactly the files of the program. */
  readonly directory: string;
  /** The entry, relative to the directory. */
  readonly entry: string;
  /** The interpreter's absolute path: the Node that runs Idunn itself. */
  readonly interpreter: string;
  readonly args?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** A presence older than this is stale, in milliseconds; 300,000 by default. */
  readonly freshnessMs?: number;
}

/** The recipe that the installed files would carry if they were a repository. */
export function installedRecipe({
  target,
  entry,
  args = [],
  environment = {},
  freshnessMs = 300_000,
}: InstalledTarget): string {
  return stringify({
    schema: 'idunn.recipe/v1',
    target,
    artifact: [{ id: 'program', path: '.', kind: 'directory' }],
    service: {
      artifact: 'program',
      path: entry,
      interpreter: 'node',
      args: [...args],
      required_environment: Object.keys(environment),
    },
    health: { kind: 'idunn', freshness_ms: freshnessMs },
  });
}

/** The binding that admits them; the machine it is made for is its node. */
export function installedBinding(installed: InstalledTarget, machine: string): Outcome<BindingDocument> {
  const { target, directory, interpreter, environment = {} } = installed;
  const text = stringify({
    schema: 'idunn.binding/v1',
    target,
    node: machine,
    source: { origin: directory, ref: 'refs/heads/installed', minimum_revision: '0'.repeat(64), recipe: 'recipe.toml' },
    interpreter: { node: { path: interpreter } },
    environment: { ...environment },
  });
  return parseBinding(text, `${target} (installed with Idunn)`);
}
