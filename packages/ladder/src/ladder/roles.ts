import type { Role } from './model.ts';

const SPELLINGS: Readonly<Record<Role, readonly string[]>> = {
  development: ['development', 'dev'],
  test: ['test', 'testing', 'qa', 'uat'],
  staging: ['staging', 'stage', 'preprod', 'pre-production'],
  production: ['production', 'prod', 'live'],
};

const bySpelling: ReadonlyMap<string, Role> = new Map(
  (Object.entries(SPELLINGS) as [Role, readonly string[]][]).flatMap(([role, all]) =>
    all.map((spelling) => [spelling, role] as const),
  ),
);

/** The role that a declared spelling means, whatever its case; `null` for a word outside the vocabulary. */
export const roleOf = (spelling: string): Role | null => bySpelling.get(spelling.trim().toLowerCase()) ?? null;

/** Every accepted spelling, for messages. */
export const ROLE_SPELLINGS: readonly string[] = [...bySpelling.keys()];
