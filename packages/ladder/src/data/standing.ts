import { type Json, type Outcome, ok } from '@idunn/kernel';
import type { Clearance } from '../guard/clearance.ts';
import type { Slot } from '../ladder/model.ts';
import { type AppData, quiesced } from './app-data.ts';
import { entitled } from './entitled.ts';

/** How an application is made to stand still and started again. Only the application knows. */
export interface Standing {
  /** Answers when nothing writes any more, with whatever `start` needs. */
  stop(clearance: Clearance, slot: Slot): Promise<Outcome<Json>>;
  start(clearance: Clearance, slot: Slot, token: Json): Promise<Outcome<void>>;
}

/** For slots in which nothing runs. */
export const NOTHING_RUNS: Standing = { stop: async () => ok(null), start: async () => ok(undefined) };

/** `quiesce` and `resume` of an application's data by its own `stop` and `start`. */
export function standing(of: Standing): Pick<AppData, 'quiesce' | 'resume'> {
  return {
    async quiesce(clearance, slot) {
      const may = entitled(clearance, slot);
      if (!may.ok) return may;
      const stopped = await of.stop(clearance, slot);
      return stopped.ok ? ok(quiesced(slot, stopped.value)) : stopped;
    },
    async resume(clearance, slot, token) {
      const may = entitled(clearance, slot, token);
      return may.ok ? of.start(clearance, slot, token.resumeToken) : may;
    },
  };
}
