import { existsSync } from 'node:fs';
import { digestJson, type Evidence, seen, unknown } from '@idunn/kernel';
import { z } from 'zod';
import type { ActivationFiles } from '../activation-directory.ts';
import { readIfThere } from '../files.ts';
import { readArgv } from '../proc.ts';
import type { Ticket } from '../ticket.ts';
import { SETPRIV } from '../user/words.ts';

/** Who stands in the process of a gated start. */
export type Standing = 'waiting' | 'program';

/**
 * Who stands in a process, by its argv and by what the launcher makes at its gate. Before it listens, and between its
 * record and the last exec, nobody can say, and that is unknown (I10). An argv is read whole from one image of the
 * process, never from two.
 */
export async function standingOf(
  pid: number,
  ticket: Ticket,
  files: ActivationFiles,
): Promise<Evidence<{ readonly standing: Standing; readonly argv: ReturnType<typeof digestJson> }>> {
  const words = await readArgv(pid);
  if (words.length === 0 || words[0] === SETPRIV) return unknown(BECOMING);
  const argv = digestJson(words);
  const { gate } = ticket;
  if (gate === undefined) return seen({ standing: 'program', argv });
  if (gate.passing === argv) return unknown(BECOMING);
  if (gate.launcher.argv !== argv) return seen({ standing: 'program', argv });
  if (!existsSync(files.gate)) return unknown('its launcher is on the way to its gate');
  if ((await readIfThere(files.opened)) !== null) return unknown(BECOMING);
  return seen({ standing: 'waiting', argv });
}

const BECOMING = 'it is just becoming another program';

const openedSchema = z.strictObject({
  schema: z.literal('idunn.gate-opened/v1'),
  activation: z.string(),
  epoch: z.int(),
});

/** The epoch that the gate was opened for; `null` while it is closed. */
export async function openedFor(files: ActivationFiles): Promise<number | null> {
  const text = await readIfThere(files.opened);
  return text === null ? null : openedSchema.parse(JSON.parse(text)).epoch;
}
