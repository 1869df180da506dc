import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './root.mjs';
import { runProgram } from './run-program.mjs';

/**
 * What became of a suite.
 *
 * @typedef {{ passed: number, failed: number, skipped: number, ran: number }} Tally
 */

const REPORTER = join(ROOT, 'scripts/lib/counting-reporter.mjs');
/** A test that waits for what never comes fails with its name, long before its suite overruns. */
const TEST_TIMEOUT_MS = 240_000;
const PROOF_RUNNER = ['node', '--conditions=source', 'proofs/run.ts'];

/**
 * Runs one suite to its end or its budget's. Whatever fails is told at once; `ran` counts real tests, without builds
 * and checks of form.
 *
 * @param {import('./suites.mjs').Suite} suite
 * @param {number} budgetMs
 * @returns {Promise<Tally | null>} `null` when there is nothing to run yet.
 */
export async function runSuite(suite, budgetMs) {
  if (suite.when !== undefined && !existsSync(join(ROOT, suite.when))) return null;
  const end = performance.now() + budgetMs;
  const left = () => Math.max(1, end - performance.now());
  const tally = { passed: 0, failed: 0, skipped: 0, ran: 0 };

  const manner = mannerOf(suite);
  if (manner === null) {
    tally.skipped = (suite.tests ?? []).flatMap(filesOf).length;
    console.log(`${suite.name}: ${tally.skipped} files skipped, since only root can run them so`);
    return tally;
  }
  for (const argv of suite.programs ?? []) await runCheck(tally, argv.join(' '), argv, left());
  for (const tests of suite.tests ?? []) await runTests(tally, tests, manner, left());
  if (suite.proofs === true) {
    for (const name of await proofNames(tally, left())) {
      await runCheck(tally, `proof ${name}`, [...PROOF_RUNNER, name, '--quick'], left());
      tally.ran += 1;
    }
  }
  return tally.passed + tally.failed + tally.skipped === 0 ? null : tally;
}

/** One program that passes or fails as a whole. */
async function runCheck(tally, name, argv, budgetMs) {
  const result = await runProgram(argv, budgetMs);
  if (result.ok) {
    tally.passed += 1;
    return;
  }
  tally.failed += 1;
  tell(name, result);
}

/** What is put before a test run so that it happens as the suite says; `null` where this user cannot. */
function mannerOf({ as }) {
  if (as === undefined) return [];
  if (process.getuid?.() !== 0) return null;
  if (as === 'own-users') return ['env', 'IDUNN_E2E_USERS=own'];
  const home = mkdtempSync(join(tmpdir(), 'idunn-nobody-'));
  process.once('exit', () => rmSync(home, { recursive: true, force: true }));
  chownSync(home, NOBODY, NOBODY);
  const become = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--no-new-privs'];
  return [...become, '--inh-caps=-all', '--bounding-set=-all', '--', 'env', `HOME=${home}`];
}

/** The ordinary user of every Debian. */
const NOBODY = 65_534;

/** The test files of a folder, or those that are named. */
const filesOf = ({ folder, only }) =>
  testFiles(folder).filter((file) => only === undefined || only.some((name) => file === `${folder}/${name}.test.ts`));

async function runTests(tally, tests, manner, budgetMs) {
  const { folder, atOnce } = tests;
  const files = filesOf(tests);
  if (files.length === 0) return;
  const limits = [`--test-concurrency=${atOnce}`, `--test-timeout=${TEST_TIMEOUT_MS}`];
  const options = ['--conditions=source', '--test', ...limits, `--test-reporter=${REPORTER}`];
  const result = await runProgram([...manner, 'node', ...options, ...files], budgetMs);
  const counts = countsOf(result.stdout);
  tally.passed += counts.passed;
  tally.failed += counts.failed;
  tally.skipped += counts.skipped;
  tally.ran += counts.passed + counts.failed;
  if (result.ok && counts.failed === 0) return;
  // A runner that ended badly without saying which test failed is a failure all the same.
  if (counts.failed === 0) tally.failed += 1;
  tell(`tests in ${folder}`, result);
}

async function proofNames(tally, budgetMs) {
  const result = await runProgram([...PROOF_RUNNER, '--list'], budgetMs);
  if (result.ok) return result.stdout.split('\n').filter((line) => line !== '');
  tally.failed += 1;
  tell('list of proofs', result);
  return [];
}

function tell(name, { overran, output }) {
  console.log(`\n${name}: ${overran ? 'overran its budget and was ended' : 'failed'}`);
  console.log(output.replace(/^#counts .*\n?/gm, '').trimEnd());
  console.log('');
}

function countsOf(stdout) {
  const line = stdout.split('\n').findLast((each) => each.startsWith('#counts '));
  return line === undefined ? { passed: 0, failed: 0, skipped: 0 } : JSON.parse(line.slice('#counts '.length));
}

/** The `*.test.ts` files under a folder, in order; none when it is not there. */
function testFiles(folder) {
  if (!existsSync(join(ROOT, folder))) return [];
  return readdirSync(join(ROOT, folder), { withFileTypes: true })
    .filter((entry) => entry.name !== 'node_modules' && entry.name !== 'dist')
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) return testFiles(path);
      return entry.name.endsWith('.test.ts') ? [path] : [];
    })
    .toSorted((one, other) => (one < other ? -1 : 1));
}
