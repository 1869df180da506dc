import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Fleet } from '../../tests/e2e/lib/fleet.ts';
import { Load, send } from './load.ts';
import { portOf } from './stage.ts';

export interface ByHand {
  /** From the last acknowledged write before each restart to the first one after it. */
  readonly gapsMs: readonly number[];
  /** First-try failures that the clients met. */
  readonly failed: number;
}

/**
 * What a user would pick instead: the same program under the same load, without Idunn, stopped and started again on its
 * port (what a unit's restart does, without the service manager's own time).
 */
export async function restartByHand(
  fleet: Fleet,
  options: { clients: number; restMs: number; restarts: number },
): Promise<ByHand> {
  // The last port of the fleet's block.
  const port = portOf(fleet) + 19;
  const start = async (): Promise<ChildProcess> => {
    const child = spawn(process.execPath, [join(fleet.repository, 'src/main.js')], {
      env: { PORT: String(port), GHOSTLIGHT_JOURNAL: join(fleet.work, 'by-hand.db') },
      stdio: 'ignore',
    });
    await answers(port, child);
    return child;
  };
  let child = await start();
  const load = new Load({ port, clients: options.clients, restMs: options.restMs, name: 'by-hand' });
  const gapsMs: number[] = [];
  try {
    for (let restart = 0; restart < options.restarts; restart++) {
      await load.moreAcked(options.clients * 5);
      const stopped = once(child, 'exit');
      child.kill('SIGTERM');
      await stopped;
      const lastMs = load.lastAckMs;
      child = await start();
      gapsMs.push((await load.moreAcked(1)) - lastMs);
    }
  } finally {
    await load.stop();
    child.kill('SIGTERM');
  }
  return { gapsMs, failed: (await load.stop()).failures.length };
}

/** Resolves at the first answer; rejects when the program has ended. */
async function answers(port: number, child: ChildProcess): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`the program ended with ${child.exitCode}`);
    const answer = await send({ port, method: 'GET', path: '/healthz' }).catch(() => null);
    if (answer?.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
