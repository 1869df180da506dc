/** The accounts that read repositories for a root daemon where its fleet names nobody: the first that there is. */
const DEFAULT_READERS = ['idunn-reader', 'nobody'] as const;

/** Who may be the reader of a root daemon, the first that this machine has; `named` is what fleet.toml says. */
export const readersOf = (named: string | null): readonly string[] => (named === null ? DEFAULT_READERS : [named]);
