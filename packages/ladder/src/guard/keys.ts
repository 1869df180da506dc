/** The first key: said on the command line, for this one command. */
export const GUARD_FLAG = '--allow-guarded';
/** The second key: `1` in the environment, and nothing else. */
export const GUARD_VARIABLE = 'IDUNN_ALLOW_GUARDED';

/**
 * The two keys as they were given. The environment is a parameter, so that no test has to change that of its process.
 */
export interface Keys {
  readonly allowGuarded: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** No key at all. */
export const NO_KEYS: Keys = { allowGuarded: false, environment: {} };

/** The keys that are missing. A left-over `0`, `true` or `1 ` is no key. */
export function missingKeys({ allowGuarded, environment }: Keys): readonly string[] {
  return [
    ...(allowGuarded ? [] : [GUARD_FLAG]),
    ...(environment[GUARD_VARIABLE] === '1' ? [] : [`${GUARD_VARIABLE}=1`]),
  ];
}
