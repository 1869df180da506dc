import assert from 'node:assert/strict';
import { chmod, copyFile, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { digestBytes } from '@idunn/kernel';
import { releaseDirectory } from '@idunn/release';
import { temporary } from '../git/testing/repository.ts';
import { Bench, must, RELEASE } from '../process/testing/bench.ts';
import { appRepository, bench, bindingText, never, RECIPE, refusalOf, silent, valueOf } from './testing/fleet.ts';

/** A small program of the machine's stands for an interpreter: it takes what it runs as its first word. */
const INTERPRETER = '/usr/bin/python3';

async function app(context: TestContext, build: string) {
  const bytes = await readFile(INTERPRETER);
  const digest = digestBytes(bytes);
  const { repository } = await appRepository(join(await temporary(context), 'origin'));
  await repository.write('build.cjs', build);
  await repository.write(
    'deployment/idunn/recipe.toml',
    `${RECIPE.replace('interpreter = "node"', 'interpreter = "python"')}
[[external_input]]
id = "python-3"
url = "https://downloads.example.org/python3"
sha256 = "${digest}"
`,
  );
  const first = await repository.commit('with an interpreter of its own');
  const binding = bindingText(repository.path, first).replace(
    /\[interpreter.node\]\npath = .*/,
    '[interpreter.python]\norigin = "input"\ninput = "python-3"',
  );
  const made = await bench(context, { bindings: { app: binding } });
  // Fetched before, as it were: an input is kept by its digest.
  const kept = join(made.fleet.directories.cache, 'inputs');
  await mkdir(kept, { recursive: true });
  await copyFile(INTERPRETER, join(kept, digest.slice('sha256:'.length)));
  const plan = valueOf(await made.release.plan({ target: 'app' }, never())).plan;
  return { ...made, plan, digest, repository };
}

const PROGRAM = 'print("up", flush=True)\nimport time\ntime.sleep(1000)\n';
const BUILD = `const fs = require('node:fs'); fs.mkdirSync('dist/bin', { recursive: true });
fs.writeFileSync('dist/bin/server.js', ${JSON.stringify(PROGRAM)});`;

test('I2: an interpreter that is a pinned input is planned, sealed, verified and seen to run', async (context) => {
  const { plan, release, fleet, digest } = await app(context, BUILD);
  assert.deepEqual(plan.launch.program, {
    kind: 'interpreter',
    origin: 'input',
    artifact: 'interpreter',
    digest,
    entry: { artifact: 'server', path: 'bin/server.js' },
  });
  const sealed = valueOf(await release.seal(plan, never(), silent));
  assert.equal(sealed.executableDigest, digest);
  const file = join(releaseDirectory(fleet.directories.releases, sealed.release), 'interpreter');
  assert.equal((await stat(file)).mode & 0o777, 0o555);

  const process = new Bench(context, {
    artifactFile: (_, artifact, path) =>
      join(releaseDirectory(fleet.directories.releases, sealed.release), artifact, path),
  });
  const activation = await process.mint(plan.launch);
  const handle = must(await process.driver.start(process.launchRequest(activation, plan.launch)));
  const observed = await process.driver.observe(handle, RELEASE);
  assert.ok(observed.kind === 'seen', JSON.stringify(observed));
  assert.equal(observed.value.executable, digest);
  assert.equal(observed.value.entry?.digest, digestBytes(PROGRAM));
  await process.driver.stop(handle, 20_000);

  await chmod(file, 0o755);
  await writeFile(file, 'another');
  assert.match(refusalOf(await release.installed(sealed.release)).reason, /interpreter differs/);
});

test('I2: a build that puts another file in the place of its interpreter is not sealed', async (context) => {
  const swap = `${BUILD}
const input = process.env.IDUNN_INPUTS + '/python-3';
fs.rmSync(input); fs.writeFileSync(input, 'another', { mode: 0o755 });`;
  const { plan, release } = await app(context, swap);
  assert.equal(refusalOf(await release.seal(plan, never(), silent)).code, 'interpreter-changed');
});

test('I11: an interpreter from an input that the recipe does not pin is refused with both lines', async (context) => {
  const { repository, release } = await app(context, BUILD);
  await repository.write(
    'deployment/idunn/recipe.toml',
    RECIPE.replace('interpreter = "node"', 'interpreter = "python"').replace('id = "notice"', 'id = "interpreter"'),
  );
  await repository.commit('without');
  const refusal = refusalOf(await release.plan({ target: 'app' }, never()));
  const { faults } = refusal.detail as { faults: { code: string; message: string }[] };
  assert.deepEqual(
    faults.map(({ code, message }) => `${code}: ${message}`),
    [
      'not-admitted: the recipe has no [[external_input]] with the id "python-3"',
      'duplicate-name: the id "interpreter" is taken by the sealed interpreter',
    ],
  );
});
