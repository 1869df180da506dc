import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { parseArgs } from 'node:util';
import { attendantProgram } from '@idunn/attendant';
import { systemClock } from '@idunn/kernel';
import { AUDIENCE, makeActivation } from '@idunn/workload/testing';

/**
 * What one attendant costs: processor time and memory for so many programs (`sleep`), each probed by TCP against one
 * shared listener in the default interval. `node bench/attendant.ts --targets 100,1000 --seconds 30`
 */
const { values } = parseArgs({
  options: { targets: { type: 'string', default: '100,1000' }, seconds: { type: 'string', default: '30' } },
});

const HEALTH = { probe: { kind: 'tcp' }, intervalMs: 5_000, timeoutMs: 2_000, successes: 1, failures: 3 } as const;
/** Clock ticks a second, of /proc/PID/stat. */
const TICKS = 100;

const fieldsOf = async (pid: number): Promise<readonly string[]> => {
  const line = await readFile(`/proc/${pid}/stat`, 'latin1');
  return line.slice(line.lastIndexOf(')') + 2).split(' ');
};

async function costOf(pid: number): Promise<{ readonly cpuMs: number; readonly rssMb: number }> {
  const fields = await fieldsOf(pid);
  const resident = /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0';
  const cpuMs = ((Number(fields[11]) + Number(fields[12])) / TICKS) * 1_000;
  return { cpuMs, rssMb: Number(resident) / 1_024 };
}

async function measure(targets: number, seconds: number): Promise<object> {
  const work = await mkdtemp(join(tmpdir(), 'idunn-bench-'));
  const clock = systemClock();
  let accepted = 0;
  let presences = 0;
  const listener = createServer((socket) => {
    accepted += 1;
    socket.on('error', () => undefined).resume();
  }).listen(0, '127.0.0.1');
  const observer = createServer((socket) => {
    socket
      .on('error', () => undefined)
      .on('data', (bytes: Buffer) => {
        presences += bytes.toString('latin1').split('\n').length - 1;
      });
  }).listen({ path: join(work, 'observer.sock'), backlog: 4_096 });
  await Promise.all([once(listener, 'listening'), once(observer, 'listening')]);
  const address = listener.address();
  if (address === null || typeof address === 'string') throw new Error('the listener has no port');
  const programs: ChildProcess[] = [];
  try {
    const attended = [];
    for (let index = 0; index < targets; index++) {
      const activation = `act-${index}`;
      const directory = makeActivation(join(work, activation), {
        activation,
        port: address.port,
        observerSocket: join(work, 'observer.sock'),
        attended: HEALTH,
        presenceEveryMs: 120_000,
      });
      const program = spawn('/bin/sleep', ['100000'], { stdio: 'ignore' });
      programs.push(program);
      const pid = program.pid ?? 0;
      const startTime = (await fieldsOf(pid))[19];
      attended.push({ activation, directory, pid, startTime, epoch: null, verdict: 'unproven' });
    }
    const { fleet } = AUDIENCE;
    const state = join(work, 'attendant.json');
    await writeFile(state, JSON.stringify({ schema: 'idunn.attended/v1', fleet, bootId: clock.bootId, attended }));
    const [file, ...words] = attendantProgram();
    const control = join(work, 'attendant.sock');
    const attendant = spawn(file, [...words, '--fleet', fleet, '--control', control, '--state', state, '--notify'], {
      env: {},
      stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
    });
    programs.push(attendant);
    const startedMs = clock.monotonicMs();
    await once(attendant.stdio[3] as Readable, 'data');
    const readyMs = clock.monotonicMs() - startedMs;
    // The first round finds every program; what follows is the steady state.
    await new Promise((resolve) => setTimeout(resolve, 2 * HEALTH.intervalMs));
    const pid = attendant.pid ?? 0;
    const before = { ...(await costOf(pid)), atMs: clock.monotonicMs(), accepted };
    await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
    const after = { ...(await costOf(pid)), atMs: clock.monotonicMs(), accepted };
    const spanMs = after.atMs - before.atMs;
    const cpuPercent = ((after.cpuMs - before.cpuMs) / spanMs) * 100;
    const probes = after.accepted - before.accepted;
    return {
      targets,
      readyMs: Math.round(readyMs),
      probesASecond: round((probes / spanMs) * 1_000),
      cpuPercent: round(cpuPercent),
      cpuPercentATarget: round(cpuPercent / targets, 4),
      cpuMsAProbe: round((after.cpuMs - before.cpuMs) / probes, 3),
      rssMb: round(after.rssMb),
      presences,
    };
  } finally {
    for (const program of programs) program.kill('SIGKILL');
    listener.close();
    observer.close();
    await rm(work, { recursive: true, force: true });
  }
}

const round = (value: number, digits = 2): number => Number(value.toFixed(digits));

for (const targets of values.targets.split(',')) {
  const measured = await measure(Number(targets), Number(values.seconds));
  process.stdout.write(`${JSON.stringify(measured)}\n`);
}
process.exit(0);
