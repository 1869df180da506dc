import assert from 'node:assert/strict';
import { chmod, cp, mkdir, readdir, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Digest, digestBytes, isDigest } from '@idunn/kernel';
import { planDigest, releaseDirectory, stageId, stagePaths, stagesDirectory } from '@idunn/release';
import { temporary } from '../git/testing/repository.ts';
import {
  appRepository,
  BUILD,
  bench,
  bindingText,
  key,
  never,
  RECIPE,
  refusalOf,
  silent,
  text,
  valueOf,
} from './testing/fleet.ts';

async function app(context: TestContext, id?: string, origin?: string) {
  const { repository, first } = await appRepository(origin ?? join(await temporary(context), 'origin'));
  const made = await bench(context, {
    ...(id === undefined ? {} : { id }),
    bindings: { app: bindingText(repository.path, first) },
  });
  const plan = async (ref?: string) =>
    valueOf(await made.release.plan({ target: 'app', ...(ref === undefined ? {} : { ref }) }, never())).plan;
  const seal = async () => valueOf(await made.release.seal(await plan(), never(), silent));
  const directory = (release: Digest): string => releaseDirectory(made.fleet.directories.releases, release);
  return { ...made, repository, first, plan, seal, directory };
}

test('I2: from a commit to a sealed release whose every byte is on record', async (context) => {
  const { plan, release, fleet, repository, first, directory } = await app(context);
  const planned = await plan();
  assert.equal(planned.source.commit, first);
  const materialized = valueOf(await release.materialize(planned, never(), silent));
  assert.ok(isDigest(materialized.stage));
  const notes: string[] = [];
  const sealed = valueOf(
    await release.seal(planned, never(), ({ step, text: note }) => notes.push(`${step}: ${note}`)),
  );
  assert.ok(sealed.stepsMs > 0);
  assert.ok(notes.includes('compile: built'));
  const { stepsMs: _steps, ...record } = sealed;
  assert.deepEqual(valueOf(await release.installed(sealed.release)), record);
  assert.equal(sealed.plan, planDigest(planned));
  assert.equal(sealed.revision, first);
  assert.equal(sealed.sealedBy, key.keyId);
  assert.equal(sealed.entry?.digest, digestBytes('console.log("one")\n'));
  assert.equal(sealed.executableDigest, planned.launch.program.kind === 'interpreter' && planned.launch.program.digest);
  assert.deepEqual(
    sealed.artifacts.flatMap(({ id, files }) =>
      files.map(({ path, executable, link }) => [id, path, executable, link]),
    ),
    [
      ['server', 'bin/server.js', false, undefined],
      ['server', 'bin/tool', true, undefined],
      ['server', 'latest', false, 'bin/server.js'],
      ['notice', '', false, undefined],
    ],
  );
  const installed = directory(sealed.release);
  const mode = async (path: string): Promise<number> => (await stat(join(installed, path))).mode & 0o777;
  assert.deepEqual((await readdir(installed)).toSorted(), ['notice', 'provenance.json', 'release.json', 'server']);
  assert.equal(await text(join(installed, 'server/bin/server.js')), 'console.log("one")\n');
  assert.equal(await readlink(join(installed, 'server/latest')), 'bin/server.js');
  assert.deepEqual(
    [
      await mode('.'),
      await mode('server'),
      await mode('server/bin/tool'),
      await mode('notice'),
      await mode('release.json'),
    ],
    [0o555, 0o555, 0o555, 0o444, 0o444],
  );
  assert.equal(digestBytes(await text(join(installed, 'provenance.json'))), sealed.provenance);
  assert.deepEqual(await readdir(stagesDirectory(fleet.directories.cache)), [], 'the stage is gone once it is sealed');
  assert.equal(await repository.git('status', '--porcelain'), '', 'the origin was not touched');
});

test('the same commit gives the same build in two fleets, and a release of its own in each', async (context) => {
  const one = await app(context, 'north');
  const two = await bench(context, {
    id: 'south',
    bindings: { app: bindingText(one.repository.path, one.first, 'capabilities = ["c"]') },
  });
  const mirror = join(await temporary(context), 'mirror');
  await cp(one.repository.path, mirror, { recursive: true });
  const three = await bench(context, { id: 'north', bindings: { app: bindingText(mirror, one.first) } });
  const first = await one.seal();
  for (const other of [two, three]) {
    const plan = valueOf(await other.release.plan({ target: 'app' }, never())).plan;
    const sealed = valueOf(await other.release.seal(plan, never(), silent));
    assert.equal(sealed.build, first.build);
    assert.notEqual(sealed.release, first.release);
  }
});

test('sealing the same plan again gives the release that exists, verified, and runs nothing', async (context) => {
  const { seal, calls } = await app(context);
  const first = await seal();
  const again = await seal();
  assert.equal(again.release, first.release);
  assert.equal(again.stepsMs, 0);
  assert.equal(calls.run, 1);
});

test('two seals of one target at once run its steps once', async (context) => {
  const { seal, calls } = await app(context);
  const [one, two] = await Promise.all([seal(), seal()]);
  assert.equal(one.release, two.release);
  assert.equal(calls.run, 1);
});

test('F1: whatever can refuse is asked before the origin is', async (context) => {
  const { repository, first } = await appRepository(join(await temporary(context), 'origin'));
  const good = bindingText(repository.path, first);
  const { release, calls, fleet } = await bench(context, {
    bindings: {
      app: good.replace(/\[interpreter.node\]\npath = .*/, '[interpreter.node]\npath = "/nowhere/node"'),
      far: good.replace('target = "app"', 'target = "far"\nnode = "elsewhere"'),
    },
  });
  const code = async (target: string, ref?: string): Promise<string> =>
    refusalOf(await release.plan({ target, ...(ref === undefined ? {} : { ref }) }, never())).code;
  assert.equal(await code('app'), 'host-program-missing');
  assert.equal(await code('far'), 'node-mismatch');
  assert.equal(await code('nobody'), 'target-unknown');
  for (const ref of ['refs/heads/other', '--upload-pack=x', 'HEAD~1', first.slice(0, 12)]) {
    assert.equal(await code('app', ref), 'ref-not-admitted');
  }
  assert.equal(calls.resolve, 0);
  await assert.rejects(readdir(fleet.directories.cache), { code: 'ENOENT' });
});

test('a ref may be the admitted one, its short name, or a full commit that it contains', async (context) => {
  const { plan, repository, first } = await app(context);
  await repository.write('server.js', 'two');
  const second = await repository.commit('second');
  assert.equal((await plan('main')).source.commit, second);
  assert.equal((await plan('refs/heads/main')).source.commit, second);
  const pinned = (await plan(first)).source;
  assert.deepEqual([pinned.commit, pinned.selection], [first, 'pinned-object']);
});

test('the faults of a committed recipe are refused at planning, with their lines', async (context) => {
  const { repository, release } = await app(context);
  await repository.write('deployment/idunn/recipe.toml', `${RECIPE}shell = true\n[capacity]\ndisk_bytes = 1\n`);
  await repository.commit('broken');
  const refusal = refusalOf(await release.plan({ target: 'app' }, never()));
  const faults = (refusal.detail as { faults: { code: string; file: string; line: number }[] }).faults;
  assert.deepEqual(
    faults.map(({ code, file, line }) => `${file}:${line} ${code}`),
    ['deployment/idunn/recipe.toml:24 unknown-field', 'deployment/idunn/recipe.toml:26 feature-not-yet-supported'],
  );
});

test('a failing step shows its last lines and leaves no release; the next stage is clean', async (context) => {
  const { repository, release, plan, fleet, seal } = await app(context);
  await repository.write(
    'build.cjs',
    'require("fs").writeFileSync("dirt", ""); console.error("boom"); process.exit(2)',
  );
  await repository.commit('broken build');
  const refusal = refusalOf(await release.seal(await plan(), never(), silent));
  assert.equal(refusal.code, 'step-failed');
  assert.deepEqual((refusal.detail as { lastLines: string[] }).lastLines, ['boom']);
  await assert.rejects(readdir(fleet.directories.releases), { code: 'ENOENT' });
  await repository.write('build.cjs', `if (require('fs').existsSync('dirt')) process.exit(9);\n${BUILD}`);
  await repository.commit('fixed');
  const sealed = await seal();
  assert.ok(sealed.stepsMs > 0);
});

test('I6: a seal that died in the middle of its steps begins again from the exact tree', async (context) => {
  const { release, plan, fleet } = await app(context);
  const planned = await plan();
  valueOf(await release.materialize(planned, never(), silent));
  // A step of the dead seal changed the tree: its mark was removed before that.
  const { root, tree } = stagePaths(stagesDirectory(fleet.directories.cache), stageId('app', planDigest(planned)));
  await rm(join(root, 'exact'));
  await writeFile(join(tree, 'build.cjs'), 'process.exit(1)');
  valueOf(await release.seal(planned, never(), silent));
});

test('I2: a stage that was altered behind our back is not what gets built', async (context) => {
  const { release, plan, fleet, calls } = await app(context);
  const planned = await plan();
  valueOf(await release.materialize(planned, never(), silent));
  const { tree } = stagePaths(stagesDirectory(fleet.directories.cache), stageId('app', planDigest(planned)));
  await writeFile(join(tree, 'server.js'), 'evil');
  const sealed = valueOf(await release.seal(planned, never(), silent));
  assert.equal(sealed.entry?.digest, digestBytes('console.log("one")\n'));
  assert.equal(calls.stage, 2);
});

test('F27: a release directory without its record is no release; it is made again', async (context) => {
  const { seal, release, directory, fleet, calls } = await app(context);
  const sealed = await seal();
  const root = directory(sealed.release);
  await chmod(root, 0o755);
  await rm(join(root, 'release.json'));
  await chmod(join(root, 'server/bin'), 0o755);
  await chmod(join(root, 'server/bin/server.js'), 0o644);
  await writeFile(join(root, 'server/bin/server.js'), 'half');
  await writeFile(join(root, 'release.json.new'), '{}');
  assert.equal(refusalOf(await release.installed(sealed.release)).code, 'release-missing');
  const again = await seal();
  assert.equal(again.release, sealed.release);
  assert.equal(calls.run, 2);
  valueOf(await release.installed(sealed.release));
  assert.equal(await text(join(root, 'server/bin/server.js')), 'console.log("one")\n');
  assert.deepEqual((await readdir(fleet.directories.releases)).length, 2);
});

test('F13: a release with anything altered, added or missing is refused before it is used', async (context) => {
  const { seal, release, directory, plan } = await app(context);
  const sealed = await seal();
  const root = directory(sealed.release);
  const [entry, tool] = [join(root, 'server/bin/server.js'), join(root, 'server/bin/tool')];
  await chmod(join(root, 'server/bin'), 0o755);
  await chmod(root, 0o755);
  const alterations: [string, () => Promise<unknown>, () => Promise<unknown>][] = [
    [
      'server/bin/server.js differs',
      () => rewrite(entry, 'console.log("0ne")\n'),
      () => rewrite(entry, 'console.log("one")\n'),
    ],
    ['server/bin/tool differs', () => chmod(tool, 0o444), () => chmod(tool, 0o555)],
    [
      'server/bin/extra does not belong to it',
      () => writeFile(join(root, 'server/bin/extra'), ''),
      () => rm(join(root, 'server/bin/extra')),
    ],
    [
      'other does not belong to it',
      () => mkdir(join(root, 'other')),
      () => rm(join(root, 'other'), { recursive: true }),
    ],
    ['notice is missing', () => rm(join(root, 'notice')), () => writeFile(join(root, 'notice'), 'notice\n')],
  ];
  for (const [what, alter, restore] of alterations) {
    valueOf(await release.installed(sealed.release));
    await alter();
    const refusal = refusalOf(await release.installed(sealed.release));
    assert.deepEqual([refusal.code, (refusal.detail as { what: string }).what], ['release-altered', what]);
    await restore();
  }
  await rewrite(join(root, 'provenance.json'), '{}');
  assert.match(refusalOf(await release.installed(sealed.release)).reason, /provenance.json differs/);
  // An altered release is never quietly made again under a process that may run from it.
  assert.equal(refusalOf(await release.seal(await plan(), never(), silent)).code, 'release-altered');
});

async function rewrite(path: string, content: string): Promise<void> {
  const { mode } = await stat(path);
  await chmod(path, 0o644);
  await writeFile(path, content);
  await chmod(path, mode & 0o777);
}

test('F4: what is kept, and what was sealed a moment ago, is never collected; the rest goes', async (context) => {
  const { seal, release, repository, fleet, plan, first } = await app(context);
  const sealed: Digest[] = [];
  for (const n of [1, 2, 3]) {
    await repository.write('server.js', `console.log(${n})`);
    await repository.commit(`version ${n}`);
    sealed.push((await seal()).release);
  }
  const [one, two, three] = sealed as [Digest, Digest, Digest];
  valueOf(await release.materialize(await plan(first), never(), silent));
  await release.collect([one]);
  valueOf(await release.installed(one));
  assert.equal(refusalOf(await release.installed(two)).code, 'release-missing');
  // Nobody has written it down yet: its caller is about to.
  valueOf(await release.installed(three));
  assert.deepEqual(await readdir(stagesDirectory(fleet.directories.cache)), []);
  await release.collect([one, three]);
  await release.collect([one]);
  assert.equal(refusalOf(await release.installed(three)).code, 'release-missing');
  assert.deepEqual((await readdir(fleet.directories.releases)).toSorted(), [one.slice(7), 'plans'].toSorted());
  assert.equal((await readdir(join(fleet.directories.releases, 'plans'))).length, 1);
});

test('F4: collecting while something is sealed takes neither its stage nor its release', async (context) => {
  const { release, plan } = await app(context);
  const planned = await plan();
  let collected: Promise<void> | undefined;
  const sealed = valueOf(
    await release.seal(planned, never(), ({ step }) => {
      if (step === 'compile' || step === 'install') collected = release.collect([]);
    }),
  );
  await collected;
  valueOf(await release.installed(sealed.release));
});

test('work for one target never waits for another', async (context) => {
  const { repository, first } = await appRepository(join(await temporary(context), 'origin'));
  const slow = await appRepository(join(await temporary(context), 'slow'));
  await slow.repository.write('build.cjs', 'console.log("begun"); setInterval(() => {}, 1e6)');
  await slow.repository.write('deployment/idunn/recipe.toml', RECIPE.replace('"app"', '"slow"'));
  await slow.repository.commit('slow');
  const { release } = await bench(context, {
    bindings: {
      app: bindingText(repository.path, first),
      slow: bindingText(slow.repository.path, slow.first).replace('"app"', '"slow"'),
    },
  });
  const controller = new AbortController();
  const stuckPlan = valueOf(await release.plan({ target: 'slow' }, never())).plan;
  const plan = valueOf(await release.plan({ target: 'app' }, never())).plan;
  const begun = Promise.withResolvers<void>();
  const stuck = release.seal(stuckPlan, controller.signal, ({ text: note }) => note === 'begun' && begun.resolve());
  await begun.promise;
  valueOf(await release.seal(plan, never(), silent));
  controller.abort();
  assert.equal(refusalOf(await stuck).code, 'work-aborted');
});

test('an artifact that is not there, or leads out of the stage, is refused by name', async (context) => {
  const { repository, release, plan } = await app(context);
  const sealWith = async (build: string) => {
    await repository.write('build.cjs', build);
    await repository.commit('change');
    return refusalOf(await release.seal(await plan(), never(), silent));
  };
  assert.match((await sealWith('')).reason, /Artifact server: dist does not exist after the steps ran/);
  assert.equal((await sealWith('require("fs").symlinkSync("/etc", "dist")')).code, 'artifact-unsafe');
  assert.match(
    (await sealWith(`${BUILD};fs.symlinkSync('/etc/passwd', 'dist/p')`)).reason,
    /link to \/etc\/passwd, outside/,
  );
  assert.equal((await sealWith(`${BUILD};fs.rmSync('dist/bin/server.js')`)).code, 'entry-missing');
});

test('the observer is sealed from installed files by the same way', async (context) => {
  const directory = await temporary(context);
  await mkdir(join(directory, 'lib'));
  await writeFile(join(directory, 'main.js'), 'import "./lib/a.js";\n');
  await writeFile(join(directory, 'lib/a.js'), 'export {};\n');
  const installed = {
    target: 'observer',
    directory,
    entry: 'main.js',
    interpreter: process.execPath,
    environment: { MODE: 'a' },
  };
  const { release, fleet } = await bench(context, { bindings: {}, installed: [installed] });
  const plan = valueOf(await release.plan({ target: 'observer' }, never())).plan;
  assert.equal(plan.source.origin, 'idunn:installed');
  assert.match(plan.source.commit, /^[0-9a-f]{64}$/);
  assert.equal(plan.launch.program.kind, 'interpreter');
  assert.deepEqual(plan.launch.environment, { MODE: { literal: 'a' } });
  valueOf(await release.materialize(plan, never(), silent));
  const sealed = valueOf(await release.seal(plan, never(), silent));
  assert.equal(sealed.entry?.path, 'main.js');
  const root = releaseDirectory(fleet.directories.releases, sealed.release);
  assert.equal(await text(join(root, 'program/lib/a.js')), 'export {};\n');
  assert.equal(valueOf(await release.installed(sealed.release)).release, sealed.release);
  // The same bytes are the same release; other bytes are another one, and a plan of the old bytes can no longer be
  // staged.
  assert.equal(planDigest(valueOf(await release.plan({ target: 'observer' }, never())).plan), planDigest(plan));
  await writeFile(join(directory, 'lib/a.js'), 'export const b = 1;\n');
  const changed = valueOf(await release.plan({ target: 'observer' }, never())).plan;
  assert.notEqual(changed.source.commit, plan.source.commit);
  assert.equal(refusalOf(await release.materialize(plan, never(), silent)).code, 'stage-mismatch');
});
