import { readdir, readFile } from 'node:fs/promises';

const ROUNDS_LIMIT = 50;

/**
 * Ends every process whose environment still has a line that begins with `mark`, also one that left the process group.
 * The mark is read again immediately before each signal, so a recycled number is never taken for a process of the step
 * (F12). A process that scrubbed its own environment and left the group is not found; only a confining runner can
 * promise more.
 */
export async function endLeftovers(mark: string): Promise<void> {
  const line = Buffer.from(`\0${mark}`);
  // A process may fork while it is looked for: repeat until a round finds nobody.
  for (let round = 0; round < ROUNDS_LIMIT; round++) {
    const found = await Promise.all((await pids()).map(async (pid) => (await carries(pid, line)) && kill(pid)));
    if (!found.includes(true)) return;
  }
}

async function pids(): Promise<readonly number[]> {
  const names = await readdir('/proc').catch(() => []);
  return names.map(Number).filter((pid) => Number.isInteger(pid) && pid !== process.pid);
}

async function carries(pid: number, line: Buffer): Promise<boolean> {
  try {
    const environment = await readFile(`/proc/${pid}/environ`);
    return Buffer.concat([Buffer.from([0]), environment, Buffer.from([0])]).includes(line);
  } catch {
    return false; // Gone, or another user's: neither can be one of ours.
  }
}

function kill(pid: number): boolean {
  try {
    process.kill(pid, 'SIGKILL');
    return true;
  } catch {
    return false;
  }
}
