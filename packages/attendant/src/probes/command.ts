import { type ChildProcess, spawn } from 'node:child_process';
import type { AttendedProbe, Machine } from '@idunn/workload/attending';
import { LIMITS } from '../limits.ts';
import { bad, type Finding, good } from '../model/reading.ts';

type CommandProbe = Extract<AttendedProbe, { kind: 'command' }>;

/**
 * Runs a command as the program itself would be run, in a process group of its own, which ends with the probe whatever
 * was left in it. Its exit code is the reading.
 */
export function probeCommand(probe: CommandProbe, timeoutMs: number, machine: Machine): Promise<Finding> {
  const [program = '', ...args] = probe.argv;
  return new Promise((resolve) => {
    let output = '';
    let bytes = 0;
    let verdict: Finding | null = null;
    const child = begin(program, args, probe);
    const finish = (finding: Finding): void => {
      withdraw();
      for (const stream of [child.stdout, child.stderr]) stream?.destroy();
      resolve({ ...finding, body: output });
    };
    const endAs = (finding: Finding): void => {
      if (verdict !== null) return;
      verdict = finding;
      withdraw();
      endGroup(child);
      // A process that cannot die holds up its own target only.
      withdraw = machine.after(LIMITS.commandEndMs, () => finish(finding));
    };
    let withdraw = machine.after(timeoutMs, () => endAs(bad(`${program} did not end within ${timeoutMs} ms`)));
    const take = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (output.length < LIMITS.bodyBytes) output += chunk.toString('utf8');
      if (bytes > LIMITS.outputBytes) endAs(bad(`${program} wrote more than ${LIMITS.outputBytes} bytes`));
    };
    child.stdout?.on('data', take);
    child.stderr?.on('data', take);
    child.on('error', (error) => finish(verdict ?? bad(`${program} cannot be started: ${error.message}`)));
    child.on('exit', (code, signal) => {
      verdict ??= judged(program, code, signal);
      withdraw();
      endGroup(child);
      // What it wrote last is still in the pipes; who left the group may hold them open.
      withdraw = machine.after(LIMITS.outputEndMs, () => finish(verdict as Finding));
    });
    child.on('close', () => verdict !== null && finish(verdict));
  });
}

function begin(program: string, args: readonly string[], { cwd, environment }: CommandProbe): ChildProcess {
  return spawn(program, args, { cwd, env: { ...environment }, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
}

function judged(program: string, code: number | null, signal: string | null): Finding {
  if (code === 0) return good(`${program} ended with 0`, { status: 0 });
  return bad(code === null ? `${program} was ended by ${signal}` : `${program} ended with ${code}`, { status: code });
}

/** The group is the child's own: its id is the child's pid, which nobody else can have while one member lives. */
function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nobody is left in it.
  }
}
