import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { type Outcome, randomIds, systemClock, systemTimers } from '@idunn/kernel';
import { type RunReport, type Step, stagePaths } from '@idunn/release';
import { temporary } from '../git/testing/repository.ts';
import { LAST_LINES } from './output.ts';
import { createHostRunner } from './runner.ts';

const STAGE = `app-${'0'.repeat(64)}`;

async function bench(context: TestContext) {
  const stages = await temporary(context);
  const paths = stagePaths(stages, STAGE);
  for (const path of [paths.tree, paths.inputs, paths.home, paths.temporary, paths.logs])
    await mkdir(path, { recursive: true });
  const runner = createHostRunner({ stages, clock: systemClock(), timers: systemTimers });
  const lines: string[] = [];
  /** Runs a script of Node; nothing else is admitted. */
  const run = (script: string, more: Partial<Step> = {}, signal: AbortSignal = new AbortController().signal) => {
    const step: Step = {
      id: 'compile',
      stage: 'build',
      profile: 'build',
      argv: ['node', '-e', script],
      cwd: '.',
      timeoutMs: 60_000,
      outputLimitBytes: 1_000_000,
      ...more,
    };
    const grant = {
      kind: 'host-native',
      allowedPrograms: { node: process.execPath, absent: join(stages, 'absent') },
      environment: { BUILD_MODE: 'release' },
      lockfile: null,
    } as const;
    const request = { requestId: randomIds.fresh('step'), stage: STAGE, step, grant };
    return runner.run(request, signal, (text) => lines.push(text));
  };
  return { stages, paths, run, runner, lines };
}

function refusalOf(outcome: Outcome<RunReport>) {
  assert.ok(!outcome.ok, 'it was not refused');
  return { ...outcome.refusal, detail: outcome.refusal.detail as Record<string, unknown> };
}

test('a step runs in the tree with exactly the granted environment and a private home', async (context) => {
  const { run, lines, paths } = await bench(context);
  const outcome = await run('console.log(JSON.stringify({ cwd: process.cwd(), ...process.env }))');
  assert.ok(outcome.ok);
  const { IDUNN_STEP, ...seen } = JSON.parse(lines[0] ?? '') as Record<string, string>;
  assert.match(IDUNN_STEP ?? '', /^app-0{64}\/step-[0-9a-f]{32}$/);
  assert.deepEqual(seen, {
    cwd: paths.tree,
    BUILD_MODE: 'release',
    HOME: paths.home,
    TMPDIR: paths.temporary,
    IDUNN_INPUTS: paths.inputs,
  });
  assert.ok(outcome.value.durationMs > 0);
  assert.equal(await readFile(join(paths.logs, 'compile.log'), 'utf8'), `${lines[0]}\n`);
});

test('I11: only an admitted name becomes a program, and no shell reads the words', async (context) => {
  const { run, lines, paths } = await bench(context);
  for (const name of ['sh', '/bin/sh', '../node', 'constructor', '__proto__']) {
    assert.equal(refusalOf(await run('', { argv: [name, '-c', 'true'] })).code, 'program-not-admitted');
  }
  const words = ['$(touch pwned)', '; touch pwned', '*'];
  assert.ok((await run('', { argv: ['node', '-e', 'console.log(process.argv.slice(1).join("|"))', ...words] })).ok);
  assert.deepEqual(lines, [words.join('|')]);
  await assert.rejects(readFile(join(paths.tree, 'pwned')), { code: 'ENOENT' });
});

test('I11: a working directory outside the tree, also by a link, is refused', async (context) => {
  const { run, paths } = await bench(context);
  await symlink('/tmp', join(paths.tree, 'out'));
  for (const cwd of ['out', '..', 'absent']) assert.equal(refusalOf(await run('0', { cwd })).code, 'step-not-started');
});

test('a failed step shows its exit status and its last lines', async (context) => {
  const { run } = await bench(context);
  const refusal = refusalOf(
    await run(
      'for (let i = 0; i < 100; i++) console.log("line " + i); console.error("no such module"); process.exitCode = 3',
    ),
  );
  assert.equal(refusal.code, 'step-failed');
  assert.match(refusal.reason, /Step compile ended with exit status 3\./);
  const last = refusal.detail['lastLines'] as string[];
  const stdout = Array.from({ length: LAST_LINES }, (_, n) => `line ${100 - LAST_LINES + n}`);
  assert.deepEqual(
    last.filter((line) => line !== 'no such module'),
    stdout,
  );
  assert.equal(last.length, LAST_LINES + 1);
  assert.equal(refusal.detail['exit'], 3);
  assert.match(await readFile(refusal.detail['log'] as string, 'utf8'), /^line 0\n/);
});

test('a program that is not there, or a step ended by a signal, is told apart', async (context) => {
  const { run } = await bench(context);
  const absent = refusalOf(await run('', { argv: ['absent'] }));
  assert.equal(absent.code, 'step-not-started');
  assert.match(absent.reason, /ENOENT/);
  const killed = refusalOf(await run('process.kill(process.pid, "SIGTERM")'));
  assert.match(killed.reason, /signal SIGTERM/);
});

/** A step that starts a child in its own session and waits; both hold the fifo open, so its end is the end of both. */
async function stubborn(paths: { readonly tree: string }) {
  const fifo = join(paths.tree, 'alive');
  await promisify(execFile)('mkfifo', [fifo]);
  await writeFile(
    join(paths.tree, 'stubborn.cjs'),
    `const fd = require('node:fs').openSync('alive', 'w');
     process.on('SIGTERM', () => {});
     const wait = 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1e6)';
     const options = { detached: true, stdio: ['ignore', 'inherit', 'inherit', fd] };
     const child = require('node:child_process').spawn(process.execPath, ['-e', wait], options);
     child.on('spawn', () => require('node:fs').writeSync(fd, 'started'));
     if (process.argv[2] === 'leave') child.on('spawn', () => process.exit(0));
     setInterval(() => {}, 1e6);`,
  );
  return async (started: () => void): Promise<void> => {
    for await (const _ of createReadStream(fifo)) started();
  };
}

test('an abort ends the whole tree, a child in a session of its own included', async (context) => {
  const { run, paths } = await bench(context);
  const untilGone = await stubborn(paths);
  const controller = new AbortController();
  const outcome = run('', { argv: ['node', 'stubborn.cjs'] }, controller.signal);
  await untilGone(() => controller.abort());
  assert.equal(refusalOf(await outcome).code, 'work-aborted');
});

test('a process that a step leaves behind ends with it, and the step has succeeded all the same', async (context) => {
  const { run, paths } = await bench(context);
  const untilGone = await stubborn(paths);
  const outcome = run('', { argv: ['node', 'stubborn.cjs', 'leave'] });
  await untilGone(() => undefined);
  assert.ok((await outcome).ok);
});

test('I6: what a run left in its stage ends with that stage, and nothing of another stage does', async (context) => {
  const [mine, other] = [await bench(context), await bench(context)];
  const untilGone = await stubborn(mine.paths);
  const outcome = mine.run('', { argv: ['node', 'stubborn.cjs'] });
  // A later daemon's runner, which knows only the stage.
  await untilGone(() => {
    void other.runner.endAll(`bapp-${'0'.repeat(64)}`).then(() => other.runner.endAll(STAGE));
  });
  assert.match(refusalOf(await outcome).reason, /signal SIGKILL/);
});

test('a step that outlasts its time is ended', async (context) => {
  const { run } = await bench(context);
  const refusal = refusalOf(await run('console.log("begun"); setInterval(() => {}, 1e6)', { timeoutMs: 500 }));
  assert.equal(refusal.code, 'step-timed-out');
  assert.match(refusal.reason, /within 500 ms/);
  assert.equal(refusal.detail['signal'], 'SIGKILL');
});

test('a step that writes without end is ended at its limit; memory and file stay bounded', async (context) => {
  const { run, paths, lines } = await bench(context);
  const refusal = refusalOf(
    await run('const b = "x".repeat(65536); (function f() { process.stdout.write(b, f) })()', {
      outputLimitBytes: 100_000,
    }),
  );
  assert.equal(refusal.code, 'step-output-limit');
  assert.equal((await readFile(join(paths.logs, 'compile.log'))).length, 100_000);
  assert.ok(lines.every((line) => line.length <= 2_000));
});

test('a step that was withdrawn before it began is not begun', async (context) => {
  const { run, paths } = await bench(context);
  const refusal = refusalOf(await run('require("fs").writeFileSync("ran", "")', {}, AbortSignal.abort()));
  assert.equal(refusal.code, 'work-aborted');
  await assert.rejects(readFile(join(paths.tree, 'ran')), { code: 'ENOENT' });
});
