import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { HostileCase } from './case.ts';
import { descriptorCase } from './descriptor-case.ts';
import { ESCAPES, type Escape } from './sandbox-scripts.ts';
import { NO_LIMITS, type SandboxGrant, type StepWords, TOKEN, type Trial, type Yard } from './yard.ts';

/** Everything that a hostile step tries against its sandbox; each control is the same step without it. */
export function sandboxCases(yard: Yard): readonly HostileCase[] {
  const root = process.getuid?.() === 0;
  return [
    ...ESCAPES.filter(({ asRoot }) => root || asRoot === undefined).map((escape) => asCase(yard, escape)),
    ...excesses(root).map((excess) => excessCase(yard, excess)),
    descriptorCase(yard),
    leftBehind(yard),
  ];
}

const said = ({ lines }: Trial): boolean => lines.some((line) => line.includes('ESCAPED'));
const refusalOf = ({ outcome }: Trial): string | null => (outcome.ok ? null : outcome.refusal.code);

function asCase(yard: Yard, { name, script, reached }: Escape): HostileCase {
  const words = { script: script(yard) };
  const through = async (trial: Trial): Promise<boolean> => said(trial) || ((await reached?.(trial, yard)) ?? false);
  return {
    name: `a step ${name}`,
    async attempt() {
      const trial = await yard.confined(words);
      return { escaped: await through(trial), refusal: refusalOf(trial) };
    },
    control: async () => ({ succeeded: await through(await yard.bare(words)) }),
  };
}

/** Too much of something: the control is the same step with room for it. */
interface Excess {
  readonly name: string;
  readonly tight: StepWords;
  readonly wide: StepWords;
  readonly through: (trial: Trial) => boolean | Promise<boolean>;
}

const MEBIBYTE = 1_048_576;

function excesses(root: boolean): readonly Excess[] {
  const forks = `
children = 0
try:
    for n in range(100):
        if os.fork() == 0: time.sleep(1); os._exit(0)
        children += 1
except OSError as error: print(error.strerror)
print("ESCAPED" if children > 40 else children, flush=True)`;
  const memory = 'x = bytearray(300 << 20); print("ESCAPED")';
  const flood = 'for n in range(200): print("x" * 10000)';
  const slow = 'print("begun", flush=True); os.close(1); os.close(2); time.sleep(2); open("outlasted", "w")';
  const tree = (name: string) => async (trial: Trial) =>
    (await readFile(join(trial.paths.tree, name), 'utf8').catch(() => null)) !== null;
  const log = async ({ paths }: Trial) => (await readFile(join(paths.logs, 'hostile.log'))).length > 100_000;
  const processes = (limit: number): Partial<SandboxGrant> => ({ limits: { ...NO_LIMITS, processes: limit } });
  const memoryBytes = (limit: number): Partial<SandboxGrant> => ({ limits: { ...NO_LIMITS, memoryBytes: limit } });
  return [
    {
      name: 'multiplies beyond its limit of processes',
      tight: { script: forks, grant: processes(24) },
      wide: { script: forks, grant: processes(400) },
      through: said,
    },
    // An ordinary user without control groups has nothing that could hold memory, and such a grant is refused.
    ...(root
      ? [
          {
            name: 'takes more memory than its limit',
            tight: { script: memory, grant: memoryBytes(64 * MEBIBYTE) },
            wide: { script: memory, grant: memoryBytes(1_024 * MEBIBYTE) },
            through: said,
          },
        ]
      : []),
    {
      name: 'floods its log',
      tight: { script: flood, step: { outputLimitBytes: 100_000 } },
      wide: { script: flood, step: { outputLimitBytes: 10_000_000 } },
      through: log,
    },
    {
      name: 'closes its output and goes on beyond its time',
      tight: { script: slow, step: { timeoutMs: 1_000 } },
      wide: { script: slow, step: { timeoutMs: 20_000 } },
      through: tree('outlasted'),
    },
    {
      name: 'reaches a place that its network does not admit',
      tight: { script: FETCH, grant: networkTo('192.0.2.1') },
      wide: { script: FETCH, grant: networkTo('127.0.0.1') },
      through: said,
    },
  ];
}

const NETWORK_PORT = 9;
const FETCH = `
s = socket.create_connection(("127.0.0.1", 3128), 10)
s.sendall(b"CONNECT 127.0.0.1:${NETWORK_PORT} HTTP/1.1\\r\\n\\r\\n")
print("ESCAPED" if b" 403 " not in s.recv(100) else "")`;

/** The discard port: whether the proxy admits it is the question, not whether anybody answers. */
const networkTo = (host: string): Partial<SandboxGrant> => ({
  network: { name: 'proof', hosts: [{ host, port: NETWORK_PORT }], connections: 4, maxBytes: MEBIBYTE },
});

function excessCase(yard: Yard, { name, tight, wide, through }: Excess): HostileCase {
  return {
    name: `a step ${name}`,
    async attempt() {
      const trial = await yard.confined(tight);
      return { escaped: await through(trial), refusal: refusalOf(trial) };
    },
    control: async () => ({ succeeded: await through(await yard.confined(wide)) }),
  };
}

/** It hides from everything by which a process of a step is known: session, environment, descriptors, parent. */
const HIDE = `
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for n in range(256):
            try: os.close(n)
            except OSError: pass
        beat = 'import os, time; open("pid", "w").write(str(os.getpid()))'
        beat += '\\nwhile True: open("beat", "a").write("."); time.sleep(0.02)'
        os.execve(sys.executable, [sys.executable, "-c", beat], {})
    os._exit(0)
while not os.path.exists("beat"): time.sleep(0.01)
print("${TOKEN}")`;

const BEATS_MS = 400;

function leftBehind(yard: Yard): HostileCase {
  const beatsOn = async (run: Promise<Trial>): Promise<{ trial: Trial; beats: boolean }> => {
    const trial = await run;
    const beat = (): Promise<string> => readFile(join(trial.paths.tree, 'beat'), 'utf8').catch(() => '');
    const before = await beat();
    await pause(BEATS_MS);
    return { trial, beats: before !== (await beat()) };
  };
  return {
    name: 'a step leaves a process behind that goes on',
    async attempt() {
      const { trial, beats } = await beatsOn(yard.confined({ script: HIDE }));
      return { escaped: beats, refusal: refusalOf(trial) };
    },
    async control() {
      const { trial, beats } = await beatsOn(yard.bare({ script: HIDE }));
      const pid = Number(await readFile(join(trial.paths.tree, 'pid'), 'utf8'));
      if (beats) process.kill(pid, 'SIGKILL');
      return { succeeded: beats };
    },
  };
}
