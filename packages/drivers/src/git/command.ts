/** How git is always called: nothing of the user's or the system's configuration, no hooks, no filters, no prompt. */

const CONFIGURATION = [
  'core.autocrlf=false',
  'core.eol=lf',
  'core.hooksPath=/dev/null',
  'core.attributesFile=/dev/null',
  'core.fsmonitor=false',
  'credential.helper=',
  'core.sshCommand=/bin/false',
  'fetch.recurseSubmodules=false',
  // What is derived from commits, and could say something else than they do, is not asked.
  'core.commitGraph=false',
  'fetch.writeCommitGraph=false',
  // A larger file goes through in pieces, and is never held whole.
  'core.bigFileThreshold=8m',
  'gc.auto=0',
  'maintenance.auto=false',
  'http.followRedirects=false',
  // A transfer that stands still for 30 s is given up.
  'http.lowSpeedLimit=1',
  'http.lowSpeedTime=30',
  'protocol.allow=never',
] as const;

/** The transports that an origin may use: https, or a local directory. */
export const transportOf = (origin: string): 'https' | 'file' => (origin.startsWith('https://') ? 'https' : 'file');

/**
 * The words before a git subcommand. `gitDirectory` is a bare repository, or `null` outside one; `certificates` a PEM
 * file to trust.
 */
export function gitArguments(
  gitDirectory: string | null,
  transport: 'https' | 'file' | null,
  certificates: string | null,
): readonly string[] {
  const allowed = transport === null ? [] : [`protocol.${transport}.allow=always`];
  const trusted = certificates === null ? [] : [`http.sslCAInfo=${certificates}`];
  return [
    '--no-pager',
    '--no-replace-objects',
    '--literal-pathspecs',
    ...[...CONFIGURATION, ...allowed, ...trusted].flatMap((setting) => ['-c', setting]),
    ...(gitDirectory === null ? [] : [`--git-dir=${gitDirectory}`]),
  ];
}

/** The whole environment of git; nothing is inherited. */
export const GIT_ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: '/usr/local/bin:/usr/bin:/bin',
  LC_ALL: 'C',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: '/bin/false',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_LAZY_FETCH: '1',
  // Neither a graft nor a replacement may stand for what a commit says of its parents.
  GIT_GRAFT_FILE: '/nonexistent/grafts',
  GIT_PROTOCOL_FROM_USER: '0',
};
