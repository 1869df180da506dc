/**
 * The rules that guarded writes live by, by name. Production always holds all of them; a test takes one away to see
 * what it prevents, so that no rule is there on faith. Not exported from the package.
 */
export type Rule =
  | 'compare-inside-the-transaction'
  | 'query-only-outside'
  | 'transaction-still-own'
  | 'statements-scanned'
  | 'synchronous-callback'
  | 'no-nesting'
  | 'not-carried-over-a-fork'
  | 'scope-ends'
  | 'wal-only'
  | 'locking-mode-normal'
  | 'no-uri'
  | 'one-link'
  | 'no-mount-point'
  | 'same-file'
  | 'row-refusal-is-final'
  | 'resume-re-reads-the-row'
  | 'every-connection-echoes'
  | 'one-library';

export type Without = ReadonlySet<Rule>;

export const EVERY_RULE: Without = new Set();
