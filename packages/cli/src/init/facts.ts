/** A text of the repository that guesses may rest on. */
export interface SourceText {
  /** From the directory that is looked at, with slashes. */
  readonly path: string;
  readonly text: string;
}

/** Everything that `init` knows of a repository and of the machine. Read once; every guess is pure. */
export interface Facts {
  /** The work tree's top directory, absolute. */
  readonly repository: string;
  /** The directory that is looked at, from the top; empty for the top itself. */
  readonly prefix: string;
  readonly commit: string;
  /** Fully qualified, e.g. `refs/heads/main`. */
  readonly ref: string;
  /** An https origin of the repository, for the comment beside ours; `null` without one. */
  readonly remote: string | null;
  /** Paths that Git tracks, from the directory that is looked at. */
  readonly tracked: readonly string[];
  /** Files that lie there untracked, which are data rather than source: databases above all. */
  readonly untracked: readonly string[];
  /** Those of the tracked files that were read: manifests and sources, within named limits. */
  readonly texts: readonly SourceText[];
  /** Programs of this machine by name, shims followed, absolute; `null` for one that was not found. */
  readonly programs: Readonly<Record<string, string | null>>;
  /** Whether the end of a whole process tree can be proven here. */
  readonly controlGroups: boolean;
}

export const textOf = ({ texts }: Facts, path: string): string | null =>
  texts.find((one) => one.path === path)?.text ?? null;

export const isTracked = ({ tracked }: Facts, path: string): boolean => tracked.includes(path);

/** The first of the paths that Git tracks. */
export const firstTracked = (facts: Facts, paths: readonly string[]): string | null =>
  paths.find((path) => isTracked(facts, path)) ?? null;

/** Sources of the program itself: tests and what is not code left out. */
export const sources = ({ texts }: Facts): readonly SourceText[] =>
  texts.filter(({ path }) => CODE.test(path) && !TESTS.test(path));

const CODE = /\.(?:[cm]?[jt]sx?|py|go)$/;
const TESTS =
  /(?:^|\/)(?:tests?|__tests__|testing|spec|deployment)\/|[._-](?:test|spec)\.|(?:^|\/)test_|_test\.(?:py|go)$/;

/** Where the first match of a pattern stands, as `file:line` with the match; `null` when nothing matches. */
export function evidence(
  texts: readonly SourceText[],
  pattern: RegExp,
): { readonly where: string; readonly match: RegExpExecArray } | null {
  for (const { path, text } of texts) {
    const match = pattern.exec(text);
    if (match !== null) return { where: placeOf(path, text, match.index), match };
  }
  return null;
}

export const placeOf = (path: string, text: string, index: number): string =>
  `${path}:${text.slice(0, index).split('\n').length}`;

/** One pattern out of several, each of which sees lines. */
export const anyOf = (...patterns: readonly RegExp[]): RegExp =>
  new RegExp(patterns.map(({ source }) => source).join('|'), 'm');
