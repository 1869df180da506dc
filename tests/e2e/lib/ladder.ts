import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Fleet } from './fleet.ts';

/** A step whose product is never the same twice: whoever builds again comes to another build. */
export const STAMP = `
[[step]]
id = "stamp"
profile = "build"
argv = ["node", "-e", "require('fs').writeFileSync('src/stamp.txt', String(Math.random()))"]
`;

/** The build that ghostlight was admitted as; `none` before the first. */
export const buildOf = async (fleet: Fleet): Promise<string> => {
  const status = JSON.parse((await fleet.idunn('status', 'ghostlight', '--json')).out) as {
    targets: readonly { target: string; admitted: { build: string } | null }[];
  };
  return status.targets.find(({ target }) => target === 'ghostlight')?.admitted?.build ?? 'none';
};

/** Binds a fleet to the repository of another, its authorizer, and the builders that it takes builds from. */
export async function takesFrom(
  fleet: Fleet,
  lower: Fleet,
  authorizer: string,
  builders: readonly string[],
): Promise<void> {
  const below = await readFile(join(lower.directory, 'bindings/ghostlight.toml'), 'utf8');
  const line = (name: string): string => new RegExp(`^${name} = .*$`, 'm').exec(below)?.[0] ?? '';
  const words = [
    'selection = "signed-authorization"',
    `authorizers = ["${authorizer}"]`,
    `builders = ${JSON.stringify(builders)}`,
  ];
  await fleet.bind((text) =>
    text
      .replace(/^(?:selection|authorizers|builders) = .*\n/gm, '')
      .replace(/^origin = .*$/m, line('origin'))
      .replace(/^minimum_revision = .*$/m, line('minimum_revision'))
      .replace('[source]', ['[source]', ...words].join('\n')),
  );
}

/** The public key of a fleet's authority, which signs its exports. */
export async function builderOf(fleet: Fleet): Promise<string> {
  const { keys } = JSON.parse((await fleet.idunn('key', 'list', '--json')).out) as {
    keys: readonly { purpose: string; publicKey: string }[];
  };
  const authority = keys.find(({ purpose }) => purpose === 'authority');
  if (authority === undefined) throw new Error(`${fleet.id} has no authority key`);
  return authority.publicKey;
}

/** A new key that authorizes releases of the fleet: its file, and its public half. */
export async function authorizerOf(fleet: Fleet): Promise<{ readonly file: string; readonly publicKey: string }> {
  const file = join(fleet.work, 'authorizer');
  const made = JSON.parse((await fleet.idunn('key', 'authorizer', file, '--json')).out) as { publicKey: string };
  return { file, publicKey: made.publicKey };
}
