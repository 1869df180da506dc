// Runs all that CI runs: `npm run verify`, or `npm run verify -- SUITE…` for some of it. Plain JavaScript, so that the
// machine's own Node (20 or newer) can bring everything else. The last line is `N passed, N failed, N skipped`.
import { installDebianPackages, installDependencies, requireTools } from './lib/preparation.mjs';
import { endAll } from './lib/run-program.mjs';
import { runSuite } from './lib/run-suite.mjs';
import { SUITES, WHOLE_BUDGET_S } from './lib/suites.mjs';

const begun = performance.now();
const elapsedS = () => (performance.now() - begun) / 1000;

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    endAll();
    process.exit(1);
  });
}

const names = process.argv.slice(2);
const total = { passed: 0, failed: 0, skipped: 0, ran: 0 };
try {
  await verify(chosenSuites());
} catch (error) {
  total.failed += 1;
  console.error(error.message);
}
// A run of everything in which no test ran has shown nothing; of chosen suites any check will do.
const shown = names.length === 0 ? total.ran : total.passed;
if (shown === 0) console.log('Nothing was shown, and that is a failure.');
process.exitCode = total.failed === 0 && shown > 0 ? 0 : 1;
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);

function chosenSuites() {
  const unknown = names.find((name) => !SUITES.some((suite) => suite.name === name));
  if (unknown !== undefined) {
    throw new Error(`There is no suite ${unknown}; there are ${SUITES.map((suite) => suite.name).join(', ')}.`);
  }
  return names.length === 0 ? SUITES : SUITES.filter((suite) => names.includes(suite.name));
}

async function verify(suites) {
  requireTools();
  installDependencies();
  installDebianPackages();
  for (const suite of suites) {
    const started = elapsedS();
    const budgetS = Math.min(suite.budgetS, WHOLE_BUDGET_S - started);
    const tally = await runSuite(suite, budgetS * 1000);
    console.log(lineOf(suite, tally, elapsedS() - started));
    for (const name of Object.keys(total)) total[name] += tally?.[name] ?? 0;
  }
  console.log(`all        ${elapsedS().toFixed(1).padStart(7)} s of ${WHOLE_BUDGET_S} s`);
}

function lineOf({ name, budgetS }, tally, tookS) {
  const took = `${name.padEnd(10)} ${tookS.toFixed(1).padStart(7)} s of ${String(budgetS).padStart(4)} s`;
  if (tally === null) return `${took}   nothing to run`;
  return `${took}   ${tally.passed} passed, ${tally.failed} failed, ${tally.skipped} skipped`;
}
