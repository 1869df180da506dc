import type { Body } from '../records/body.ts';
import type { ContinuityEvidence } from './continuity-evidence.ts';

/** How a process that lives does by its own word. `degraded` is a way to live; silence is none to die of, at first. */
export type Health =
  | { readonly kind: 'well'; readonly wakeAtMs: number | null }
  | { readonly kind: 'lapsed'; readonly detail: string; readonly wakeAtMs: number | null }
  | { readonly kind: 'failed'; readonly detail: string };

/** How often it is looked for whether whoever speaks for a program is heard again. */
const LISTEN_AGAIN_MS = 1_000;

/**
 * Judges by the newest word on either way, its lease connection or the observer's; a word about another activation is
 * worth nothing (I5). A presence that lapsed is failed only once the binding's own patience is over as well, and
 * what nobody listened to is no silence of the process (I10).
 */
export function healthOf(e: ContinuityEvidence, body: Body): Health {
  const { activation } = body.document;
  const own =
    e.presence.kind === 'seen' && e.presence.value.presence.activation === activation ? e.presence.value : null;
  const relayed = e.word.kind === 'seen' && e.word.value.activation === activation ? e.word.value.present : null;
  if (own?.presence.state === 'failed') {
    return { kind: 'failed', detail: own.presence.detail || 'its presence says failed' };
  }
  if (relayed?.state === 'failed') return { kind: 'failed', detail: 'its presence says failed' };
  const nowMs = e.now.monotonicMs;
  const { sinceMs, untilMs } = e.listened;
  const heardMs = Math.max(
    sinceMs,
    own === null ? Number.NEGATIVE_INFINITY : nowMs - own.ageMs,
    relayed?.observedAtMs ?? Number.NEGATIVE_INFINITY,
  );
  const lapseMs = heardMs + e.plan.health.freshnessMs;
  const wakeAt = (ms: number): number => (ms > nowMs ? ms : nowMs + LISTEN_AGAIN_MS);
  if (untilMs < lapseMs) return { kind: 'well', wakeAtMs: wakeAt(lapseMs) };
  const { failedAfterMs } = e.plan.continuity;
  const detail = `${activation} has said nothing for ${Math.round((untilMs - heardMs) / 1_000)} s`;
  if (failedAfterMs === null) return { kind: 'lapsed', detail, wakeAtMs: null };
  const failedMs = lapseMs + failedAfterMs;
  return untilMs >= failedMs ? { kind: 'failed', detail } : { kind: 'lapsed', detail, wakeAtMs: wakeAt(failedMs) };
}
