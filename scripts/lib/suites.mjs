/**
 * What `npm run verify` runs, in order. A suite is one or more programs by argv, run by the repository's own Node;
 * `tests` are patterns for Node's test runner. `when` names a file without which the suite has nothing to do yet.
 *
 * @typedef {object} Suite
 * @property {string} name
 * @property {number} budgetS Seconds that the whole suite may take.
 * @property {readonly (readonly string[])[]} [programs] Each ends with 0 or fails the suite; counts as one test.
 * @property {{ folder: string, atOnce: number, only?: readonly string[] }[]} [tests] Folders whose `*.test.ts` files
 * are run, or some of them by name.
 * @property {'nobody' | 'own-users'} [as] Needs root: run as an ordinary user, or with a user for each workload.
 * @property {boolean} [proofs] Runs every proof that `proofs/run.ts --list` names, each as one test.
 * @property {string} [when]
 */

/** @type {readonly Suite[]} */
export const SUITES = [
  {
    name: 'build',
    budgetS: 180,
    programs: [
      ['tsc', '-b'],
      ['tsc', '-p', 'tsconfig.tests.json'],
    ],
  },
  {
    name: 'lint',
    budgetS: 120,
    programs: [
      ['oxlint', '--deny-warnings'],
      ['biome', 'check', '.'],
    ],
  },
  { name: 'house', budgetS: 60, tests: [{ folder: 'tests/house', atOnce: 2 }] },
  {
    name: 'unit',
    budgetS: 480,
    tests: [
      { folder: 'packages', atOnce: 2 },
      { folder: 'examples', atOnce: 2 },
      { folder: 'proofs', atOnce: 2 },
    ],
  },
  {
    name: 'simulate',
    budgetS: 120,
    when: 'packages/simulator/src/main.ts',
    programs: [['node', '--conditions=source', 'packages/simulator/src/main.ts', '--seeds', '300']],
  },
  { name: 'end-to-end', budgetS: 900, tests: [{ folder: 'tests/e2e', atOnce: 1 }] },
  // The half of the folder that starts and stops most.
  {
    name: 'end-to-end-unprivileged',
    budgetS: 150,
    as: 'nobody',
    tests: [{ folder: 'tests/e2e', atOnce: 1, only: ['deploy', 'crash', 'failures', 'gated', 'stop-then-start'] }],
  },
  {
    name: 'end-to-end-own-users',
    budgetS: 150,
    as: 'own-users',
    tests: [{ folder: 'tests/e2e', atOnce: 1, only: ['deploy', 'crash', 'gated', 'stop-then-start'] }],
  },
  {
    name: 'chaos',
    budgetS: 240,
    when: 'proofs/chaos.ts',
    programs: [['node', '--conditions=source', 'proofs/chaos.ts', '--minutes', '2', '--seed', '1']],
  },
  { name: 'proofs', budgetS: 600, when: 'proofs/run.ts', proofs: true },
];

/** Seconds that everything together may take. */
export const WHOLE_BUDGET_S = 45 * 60;

/**
 * Debian packages that a suite needs, each with a program that shows whether it is there.
 *
 * @type {readonly { package: string, program: string, because: string }[]}
 */
export const DEBIAN_PACKAGES = [
  { package: 'git', program: 'git', because: 'sources are read by git plumbing' },
  { package: 'util-linux', program: 'prlimit', because: 'the store is starved of file size' },
  { package: 'acl', program: 'setfacl', because: 'a closed directory is opened to the reader alone (as root)' },
  { package: 'bubblewrap', program: 'bwrap', because: 'steps are run in sandboxes' },
  { package: 'python3', program: 'python3', because: 'hostile steps try the sandbox' },
  { package: 'mount', program: 'mount', because: 'the store is put on a full disk (as root)' },
  { package: 'postgresql', program: 'pg_lsclusters', because: 'databases are carried down the ladder' },
  { package: 'python3', program: 'python3', because: 'almanac, an example that knows nothing of Idunn, is tried' },
  { package: 'systemd-container', program: 'systemd-nspawn', because: 'restarts are compared with a booted systemd' },
  { package: 'zstd', program: 'zstd', because: 'bundles are read by other programs' },
];
