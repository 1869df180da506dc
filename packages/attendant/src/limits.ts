/** Every queue, wait and buffer of the attendant has its limit here. */
export const LIMITS = {
  /** Programs that one attendant speaks for. */
  targets: 10_000,
  /** Probes over a connection, and commands, that run at once; the others wait their turn. */
  connections: 64,
  commands: 8,

  /** How much of an answer is read: more than a secret is long, so that none is cut before it is taken out. */
  bodyBytes: 262_144,
  /** How much of an answer, or of a command's output, is shown. */
  shownCharacters: 200,
  /** A command that writes more is ended, and its reading is bad. */
  outputBytes: 1_048_576,
  /** How long the end of a killed command is waited for. */
  commandEndMs: 2_000,
  /** How long the output of an ended command is waited for. */
  outputEndMs: 100,

  /** While a program starts it is looked at soon again: after this, then after a growing wait up to its interval. */
  quickMs: { connection: 10, command: 100, growth: 1.2 },
  /** After a restart of the attendant the first probes are spread over this. */
  spreadMs: 1_000,
  /** Presences that are said at once, the longest well within what may wait on a connection; then others may read. */
  burst: { presences: 250, pauseMs: 100 },

  /** What one run of the program writes to its log. */
  logLines: 10_000,
  controlConnections: 16,
  /** Entries of one page of a list. */
  page: 100,
} as const;
