import type { Memory } from '@idunn/authority';
import { type Records, recordOf } from './records.ts';

/**
 * Before a handover what is read is read each time: of the moment in which it may be used again nothing is made. What
 * was waited for before something was begun is over.
 */
export const readAnew = (memory: Memory, records: Records): Memory => ({
  ...memory,
  vigil: memory.vigil.running.length === 0 ? memory.vigil : { ...memory.vigil, rest: null },
  lanes: Object.fromEntries(
    Object.entries(memory.lanes).map(([id, lane]) => {
      const phase = recordOf(records, 'transaction', id)?.state.phase ?? 'queued';
      const isBusy = lane.running.some(([key]) => !LONG.test(key));
      const readings = HANDOVER.has(phase) ? lane.readings : null;
      return [id, { ...lane, readings, waiting: isBusy ? null : lane.waiting }];
    }),
  ),
});

/** Decisions go on while these are under way. */
const LONG = /^(?:plan|materialize|seal|rehearse|open-channel)(?: |$)/;

const HANDOVER: ReadonlySet<string> = new Set([
  'incumbent-fenced',
  'write-lease-granted',
  'ready-observed',
  'route-published',
  'route-observed',
  'returning',
]);
