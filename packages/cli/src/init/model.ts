/** A literal word, or a slot that Idunn fills. */
export type Word = string | { readonly slot: string };

/** What was decided, and what it rests on. */
export interface Guess {
  readonly what: string;
  readonly because: string;
}

/** What could not be told, and what a person should do about it. */
export interface Doubt {
  readonly what: string;
  readonly remedy: string;
}

export interface BuildStep {
  readonly id: string;
  readonly stage: 'build' | 'test';
  /** The first is the name of a program of this machine. */
  readonly argv: readonly [string, ...string[]];
  readonly timeoutMs: number;
}

export interface Store {
  readonly id: string;
  readonly kind: 'sqlite' | 'files';
  /** From the state's directory. */
  readonly path: string;
}

export interface Capability {
  readonly name: string;
  readonly schema: string;
}

/** `tcp`: it speaks a protocol that Idunn passes on as it is, and is well while it accepts connections. */
export type Health = { readonly kind: 'idunn' | 'http'; readonly path: string } | { readonly kind: 'tcp' };

export interface Variable {
  readonly name: string;
  readonly value: Word;
  /** Why it is given, for the comment beside it. */
  readonly why: string;
}

/** How the program is built and started, as its kind of repository shows it. */
export interface Launch {
  readonly kind: 'node' | 'python' | 'go' | 'static' | 'words';
  readonly name: string;
  readonly steps: readonly BuildStep[];
  readonly artifacts: readonly { readonly id: string; readonly path: string; readonly kind: 'file' | 'directory' }[];
  /** `path` is `null` for an artifact that is one file; `interpreter` is `null` for an executable. */
  readonly service: { readonly artifact: string; readonly path: string | null; readonly interpreter: string | null };
  readonly args: readonly Word[];
  readonly variables: readonly Variable[];
  /** Files that are written beside the recipe: path from the directory that is looked at, and text. */
  readonly files: readonly { readonly path: string; readonly text: string }[];
  readonly guesses: readonly Guess[];
  readonly doubts: readonly Doubt[];
}

/** Everything that the two files say. */
export interface Proposal extends Launch {
  readonly target: string;
  readonly health: Health;
  readonly stores: readonly Store[];
  readonly schema: string;
  readonly capabilities: readonly Capability[];
  /** Variables that the program reads and that were given no value: for a comment in the binding. */
  readonly open: readonly { readonly name: string; readonly where: string }[];
  /** The binding says that the program never starts another process. */
  readonly singleProcess: boolean;
}

/** What the person said on the command line, in place of a guess. */
export interface Wishes {
  readonly target: string | null;
  readonly health: string | null;
  readonly tcp: boolean;
  readonly stores: readonly Store[];
  readonly embedded: boolean;
  /** The words after `--`. */
  readonly start: readonly string[];
}
