import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Outcome } from '@idunn/kernel';
import { temporary } from '../git/testing/repository.ts';
import { createBubblewrapRunner } from './runner.ts';
import { STAGE, sandboxBench } from './testing/sandbox.ts';

function refusalOf(outcome: Outcome<unknown>) {
  assert.ok(!outcome.ok, 'it was not refused');
  return { ...outcome.refusal, detail: outcome.refusal.detail as Record<string, unknown> };
}

test('a step runs as nobody in the tree, with exactly the granted environment', async (context) => {
  const { run, lines, paths } = await sandboxBench(context);
  const script =
    'import os, json; print(json.dumps(dict(os.environ, cwd=os.getcwd(), uid=os.getuid(), pid=os.getpid())))';
  const outcome = await run(script, {}, { environment: { BUILD_MODE: 'release' } });
  assert.ok(outcome.ok, JSON.stringify(outcome));
  const { IDUNN_STEP, pid, PWD: _, LC_CTYPE: __, ...seen } = JSON.parse(lines[0] ?? '') as Record<string, unknown>;
  assert.match(String(IDUNN_STEP), /^app-0{64}\/step-[0-9a-f]{32}$/);
  assert.deepEqual(seen, {
    BUILD_MODE: 'release',
    HOME: '/idunn/home',
    TMPDIR: '/tmp',
    IDUNN_INPUTS: '/idunn/inputs',
    cwd: '/idunn/tree',
    uid: 65_534,
  });
  assert.ok(Number(pid) < 10, 'it sees its own processes alone');
  assert.deepEqual(outcome.value.contacted, []);
  assert.equal(await readFile(join(paths.logs, 'compile.log'), 'utf8'), `${lines[0]}\n`);
});

test('what a step leaves in the tree stays for the next one and for the seal', async (context) => {
  const { run, paths } = await sandboxBench(context);
  await writeFile(join(paths.tree, 'source'), 'source', { mode: 0o600 });
  await mkdir(join(paths.tree, 'sub'), { mode: 0o700 });
  assert.ok((await run('open("made","w").write(open("../source").read())', { cwd: 'sub' })).ok);
  assert.ok((await run('import os; os.rename("sub/made", "made"); open("/idunn/home/kept", "w")')).ok);
  assert.ok((await run('import os; assert os.listdir("/idunn/home") == ["kept"]')).ok);
  assert.equal(await readFile(join(paths.tree, 'made'), 'utf8'), 'source');
});

test('F7: a failed step shows its exit status, the signal of a program, and its last lines', async (context) => {
  const { run } = await sandboxBench(context);
  const refusal = refusalOf(await run('import sys; print("no such module", file=sys.stderr); sys.exit(3)'));
  assert.equal(refusal.code, 'step-failed');
  assert.match(refusal.reason, /Step compile ended with exit status 3\./);
  assert.deepEqual(refusal.detail['lastLines'], ['no such module']);
  const killed = refusalOf(await run('import os; os.kill(os.getpid(), 9)'));
  assert.match(killed.reason, /exit status 137/);
});

test('F30: no value of the environment is in a command line, which anybody may read', async (context) => {
  const { run, lines } = await sandboxBench(context);
  const script = 'print(open("/proc/1/cmdline").read().replace("\\0", " "))';
  assert.ok((await run(script, {}, { environment: { TOKEN: 'hunter2-and-more' } })).ok);
  assert.match(lines[0] ?? '', /^\/usr\/bin\/bwrap --args 3 -- .*python3/);
  assert.doesNotMatch(lines.join('\n'), /hunter2/);
});

test('a sandbox that cannot be made is told apart from a step that failed', async (context) => {
  const { run } = await sandboxBench(context);
  const refusal = refusalOf(await run('0', {}, { mounts: [{ source: '/absent', destination: '/absent' }] }));
  assert.equal(refusal.code, 'step-not-started');
  assert.match(refusal.reason, /bubblewrap could not make its sandbox/);
  assert.match(String(refusal.detail['lastLines']), /bwrap: .*\/absent/);
});

test('without bubblewrap the step is refused by name, with what to install', async (context) => {
  const { runner: _, ...bench } = await sandboxBench(context, { bubblewrap: null });
  const refusal = refusalOf(await bench.run('0'));
  assert.equal(refusal.code, 'bubblewrap-missing');
  assert.match(refusal.remedy, /apt-get install bubblewrap/);
});

test('I11: a mount never shows what is hidden, whatever it holds', async (context) => {
  const top = await temporary(context);
  await chmod(top, 0o755);
  const hidden = join(top, 'fleet');
  await mkdir(hidden);
  await writeFile(join(hidden, 'key'), 'key');
  await writeFile(join(top, 'secret'), 'secret');
  await writeFile(join(top, 'toolchain'), 'toolchain');
  await symlink(join(hidden, 'key'), join(top, 'link'));
  const { run, lines } = await sandboxBench(context, { hidden: [hidden, join(top, 'secret')] });
  const script = `
import os
def look(path):
    try: return open(path).read()
    except OSError as error: return type(error).__name__
print([look("/tools/" + name) for name in ("toolchain", "secret", "fleet/key", "link")], os.listdir("/tools/fleet"))
try: open("/tools/fleet/x", "w")
except OSError as error: print(error.strerror)
`;
  assert.ok((await run(script, {}, { mounts: [{ source: top, destination: '/tools' }] })).ok, lines.join('\n'));
  assert.match(lines[0] ?? '', /^\['toolchain', 'PermissionError', 'FileNotFoundError', 'FileNotFoundError'\] \[\]$/);
  assert.equal(lines[1], 'Read-only file system');
});

test('a step that outlasts its time, or is withdrawn, ends with every process that it made', async (context) => {
  const { run, paths } = await sandboxBench(context);
  const daemon = `
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.environ.clear()
        while True:
            open("/idunn/tree/beat", "a").write(".")
            time.sleep(0.01)
    os._exit(0)
os.wait()
print("begun", flush=True)
os.close(1); os.close(2)
time.sleep(60)
`;
  const beats = (): Promise<string> => readFile(join(paths.tree, 'beat'), 'utf8');
  assert.equal(refusalOf(await run(daemon, { timeoutMs: 1_000 })).code, 'step-timed-out');
  const beaten = await beats();
  assert.notEqual(beaten, '');
  const controller = new AbortController();
  const running = run(daemon, {}, {}, controller.signal);
  setImmediate(() => controller.abort());
  assert.equal(refusalOf(await running).code, 'work-aborted');
  const then = await beats();
  // Its sandbox was seen gone, so there is nothing to wait for: one more step, and nobody has written meanwhile.
  assert.ok((await run('import time; time.sleep(0.1)')).ok);
  assert.equal(await beats(), then);
});

test('a step that writes without end is ended at its limit', async (context) => {
  const { run, paths } = await sandboxBench(context);
  const refusal = refusalOf(await run('while True: print("x" * 65536)', { outputLimitBytes: 100_000 }));
  assert.equal(refusal.code, 'step-output-limit');
  assert.equal((await readFile(join(paths.logs, 'compile.log'))).length, 100_000);
});

test('limits hold for the whole tree, or are refused by name', async (context) => {
  const { run } = await sandboxBench(context);
  const limits = { memoryBytes: null, processes: null, cpuMillis: null };
  const fork = 'import os, time\nfor n in range(64):\n  if os.fork() == 0: time.sleep(5); os._exit(0)';
  assert.match(
    String(refusalOf(await run(fork, {}, { limits: { ...limits, processes: 16 } })).detail['lastLines']),
    /BlockingIOError/,
  );
  assert.ok((await run(fork.replace('64', '8'), {}, { limits: { ...limits, processes: 16 } })).ok);
  const eat = await run('x = bytearray(200 << 20)', {}, { limits: { ...limits, memoryBytes: 64 << 20 } });
  const refusal = refusalOf(eat);
  // As an ordinary user without control groups of its own there is nothing that could hold it.
  if (refusal.code === 'limit-not-enforceable') assert.match(refusal.reason, /memoryBytes/);
  else assert.match(refusal.reason, /Its memory limit of 67108864 bytes was reached/);
});

test('I6: what a dead daemon left of a step is ended, and nothing of another stage', async (context) => {
  const mine = await sandboxBench(context);
  const step = mine.run('print("begun", flush=True)\nwhile True: pass');
  await untilSaid(mine.lines, 'begun');
  const later = createBubblewrapRunner(mine.options);
  await later.endAll(`app-${'1'.repeat(64)}`);
  assert.ok(existsSync(join(mine.paths.root, 'sandbox')));
  await later.endAll(STAGE);
  assert.match(refusalOf(await step).reason, /signal SIGKILL|exit status 137/);
  assert.deepEqual(
    (await readdir(mine.paths.root)).filter((name) => name === 'sandbox'),
    [],
  );
});

test('I6: a daemon that is killed in the middle of a step takes the step with it, whatever it hid', async (context) => {
  const bench = await sandboxBench(context);
  const script = `
import os, sys, time
if os.fork() == 0:
    os.setsid()
    beat = 'import time\\nwhile True: open("beat", "a").write("."); time.sleep(0.01)'
    os.execve(sys.executable, [sys.executable, "-c", beat], {})
while not os.path.exists("beat"): time.sleep(0.01)
print("begun", flush=True)
time.sleep(600)`;
  const program = new URL('./testing/first-daemon.ts', import.meta.url).pathname;
  const daemon = spawn(process.execPath, ['--conditions=source', program, bench.stages, script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(daemon.stdout, 'data');
  daemon.kill('SIGKILL');
  await once(daemon, 'exit');
  // The next daemon, before it makes the stage anew.
  await bench.runner.endAll(STAGE);
  const beats = await readFile(join(bench.paths.tree, 'beat'), 'utf8');
  assert.notEqual(beats, '');
  assert.ok((await bench.run('import time; time.sleep(0.1)')).ok);
  assert.equal(await readFile(join(bench.paths.tree, 'beat'), 'utf8'), beats);
  assert.ok(!existsSync(join(bench.paths.root, 'sandbox')));
});

async function untilSaid(lines: readonly string[], text: string): Promise<void> {
  while (!lines.includes(text)) await new Promise((resolve) => setImmediate(resolve));
}
