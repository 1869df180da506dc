import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Timers } from '@idunn/kernel';
import type { RuntimeIdentity } from '@idunn/readiness';
import { z } from 'zod';
import { identify, ownStandpoint, type Standpoint, signal, vital } from '../process/identity.ts';

/** Beside the tree, where no step can reach it: who the first process of the running sandbox is. */
const RECORD = 'sandbox';
/** How often the end of a process is looked for: the daemon is not its parent. */
const LOOK_MS = 5;
/** A killed process that is still there after so long is stuck in the kernel. */
export const END_LIMIT_MS = 30_000;

const record = z.strictObject({
  kind: z.literal('linux-process'),
  pid: z.int().min(2),
  startTime: z.string(),
  controlGroup: z.null(),
  bootId: z.string(),
  pidNamespace: z.string(),
});

/**
 * The sandbox's first process, the inner init: when it is gone, the kernel has ended every process of its pid
 * namespace. The end of bubblewrap itself says nothing.
 */
export class InitProcess {
  readonly #identity: RuntimeIdentity;
  readonly #from: Standpoint;

  private constructor(identity: RuntimeIdentity, from: Standpoint) {
    this.#identity = identity;
    this.#from = from;
  }

  /** Bubblewrap names it before it lets it begin; kept in the stage, so that a later daemon finds exactly it (F12). */
  static async of(pid: number, stageRoot: string, clock: Clock): Promise<InitProcess | null> {
    const from = ownStandpoint(clock.bootId);
    const identity = identify(pid, null, from);
    if (identity.kind !== 'seen') return null;
    await writeFile(join(stageRoot, RECORD), JSON.stringify(identity.value), { mode: 0o600 });
    return new InitProcess(identity.value, from);
  }

  /** The one that a dead daemon's step left its record of, whether it still lives or not. */
  static async leftIn(stageRoot: string, clock: Clock): Promise<InitProcess | null> {
    const text = await readFile(join(stageRoot, RECORD), 'utf8').catch(() => null);
    if (text === null) return null;
    const parsed = record.safeParse(parse(text));
    return parsed.success ? new InitProcess(parsed.data, ownStandpoint(clock.bootId)) : null;
  }

  static forget = (stageRoot: string): Promise<void> => rm(join(stageRoot, RECORD), { force: true });

  kill(): void {
    signal(this.#identity, 'SIGKILL', this.#from);
  }

  /** Whether it was seen gone in time. */
  gone(timers: Timers): Promise<boolean> {
    return new Promise((resolve) => {
      let left = END_LIMIT_MS / LOOK_MS;
      const look = (): void => {
        if (vital(this.#identity, this.#from).kind === 'absent') resolve(true);
        else if ((left -= 1) <= 0) resolve(false);
        else timers.after(LOOK_MS, look);
      };
      look();
    });
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
