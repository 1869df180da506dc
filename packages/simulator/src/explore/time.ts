import type { Memory } from '@idunn/authority';
import { OLD_MS, type State } from './state.ts';

/** Longer than every deadline of a transaction together. */
const LONG_MS = OLD_MS;

/**
 * What waits for a further look or a retry may have it: everything that was answered or read is old. The clock of the
 * phases stays: whether a deadline is past is another question, and has another move.
 */
export function afterAMoment(state: State): State | null {
  const { memory } = state;
  if (memory === null || memory.due) return null;
  const looks = Object.values(memory.lanes).some(({ waiting }) => looksAgain(waiting));
  const rests = memory.vigil.rest?.wakeAtMs ?? null;
  if (!looks && rests === null) return null;
  return { ...state, memory: aged(memory) };
}

const looksAgain = (waiting: Memory['lanes'][string]['waiting']): boolean =>
  waiting !== null && waiting.wait.wakeAtMs !== null && waiting.wait.wakeAtMs !== waiting.wait.untilMs;

function aged({ lanes, vigil }: Memory): Memory {
  const old = (answers: Memory['vigil']['answers']) =>
    answers.map(([key, answer]) => [key, { ...answer, atMs: answer.atMs - OLD_MS }] as const);
  const longer = Object.entries(lanes).map(([id, lane]) => [
    id,
    { ...lane, answers: old(lane.answers), readings: null },
  ]);
  const process =
    vigil.process.kind === 'unknown' ? ({ kind: 'unknown', because: 'not read' } as const) : vigil.process;
  return {
    lanes: Object.fromEntries(longer),
    vigil: { ...vigil, process, answers: old(vigil.answers) },
    due: true,
  };
}

/** The nearest deadline of what is waited for has come; of what is being done, all of them. */
export function atDeadline(state: State): State | null {
  const { memory, nowMs } = state;
  if (memory === null || memory.due) return null;
  const lanes = Object.values(memory.lanes);
  const waits = lanes.map(({ waiting }) => waiting?.wait.untilMs ?? null).filter((atMs) => atMs !== null);
  const coming = waits.filter((atMs) => atMs > nowMs);
  if (coming.length > 0) return { ...state, nowMs: Math.min(...coming), memory: aged(memory), about: null };
  if (lanes.every(({ running }) => running.length === 0)) return null;
  return { ...state, nowMs: nowMs + LONG_MS };
}

/** Continuity's next attempt is due. */
export function atNextAttempt(state: State): State | null {
  const { memory, nowMs } = state;
  const atMs = memory?.vigil.rest?.attemptAtMs ?? null;
  if (memory === null || memory.due || atMs === null || atMs <= nowMs) return null;
  return { ...state, nowMs: atMs, memory: { ...memory, due: true }, about: null };
}
