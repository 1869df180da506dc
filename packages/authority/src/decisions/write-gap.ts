import type { RelinquishAnswer } from '../ports/channel-port.ts';
import type { Passage } from '../records/passage.ts';
import type { DeployEvidence } from './evidence.ts';

/** An incumbent that wrote so shortly before it gave up has writers, and their next write is a moment away. */
const RECENT_MS = 100;
/** How long after the route was seen the word of that write is waited for. */
const PATIENCE_MS = 100;

/** Last write accepted from the incumbent to first from the candidate; `null` when one of them never wrote. */
export function writeGapMs(e: DeployEvidence, passage: Passage, epoch: number | null): number | null {
  const first = firstWrite(e, passage, epoch);
  const last = lastWrite(e, passage);
  return first === null || last === null ? null : Math.max(0, first - last.atMs);
}

/**
 * Until when the word of a first write is worth a wait; `null` when it has come, or nobody is about to write. Only the
 * outcome's sentence waits for it: both permissions have moved, and the candidate serves.
 */
export function firstWriteDueMs(e: DeployEvidence, passage: Passage, epoch: number | null): number | null {
  const last = lastWrite(e, passage);
  const seenMs = e.marks.reached['route-observed'];
  if (last === null || seenMs === undefined || firstWrite(e, passage, epoch) !== null) return null;
  const untilMs = seenMs + PATIENCE_MS;
  return last.agoMs < RECENT_MS && e.now.monotonicMs < untilMs ? untilMs : null;
}

function firstWrite(e: DeployEvidence, passage: Passage, epoch: number | null): number | null {
  const first = e.marks.firstWrites[passage.successor.launch.id];
  return first !== undefined && first.epoch === epoch ? first.atMs : null;
}

/** The last write of the incumbent, as it signed it, and how long before its answer that was. */
function lastWrite(e: DeployEvidence, passage: Passage): { readonly atMs: number; readonly agoMs: number } | null {
  const holder = passage.origin?.activation ?? null;
  const answered = holder === null ? undefined : e.answers[`relinquish ${holder} ${passage.requestId}`];
  if (answered?.outcome.ok !== true) return null;
  const answer = answered.outcome.value as RelinquishAnswer;
  if (answer.kind === 'silent' || answer.lastWriteAtMs === null) return null;
  return { atMs: answer.lastWriteAtMs, agoMs: answered.atMs - answer.lastWriteAtMs };
}
