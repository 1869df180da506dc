import type { Body } from '../records/body.ts';
import type { ContinuityEvidence } from './continuity-evidence.ts';

/** How a process that lives does by its own word. `degraded` is a way to live; silence is none to die of, at first. */
export type Health =
  | { readonly kind: 'well'; readonly wakeAtMs: number | null }
  | { readonly kind: 'lapsed'; readonly detail: string; readonly wakeAtMs: number | null }
  | { readonly kind: 'failed'; readonly detail: string };

/**
 * Judges by the newest word on either way, its lease connection or the observer's; a word about another activation is
 * worth nothing (I5). A presence that lapsed is failed only once the binding's own patience is over as well.
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
  const heardMs = Math.max(
    e.heardSinceMs,
    own === null ? Number.NEGATIVE_INFINITY : nowMs - own.ageMs,
    relayed?.observedAtMs ?? Number.NEGATIVE_INFINITY,
  );
  const lapseMs = heardMs + e.plan.health.freshnessMs;
  if (nowMs < lapseMs) return { kind: 'well', wakeAtMs: lapseMs };
  const { failedAfterMs } = e.plan.continuity;
  const detail = `${activation} has said nothing for ${Math.round((nowMs - heardMs) / 1_000)} s`;
  if (failedAfterMs === null) return { kind: 'lapsed', detail, wakeAtMs: null };
  const failedMs = lapseMs + failedAfterMs;
  return nowMs >= failedMs ? { kind: 'failed', detail } : { kind: 'lapsed', detail, wakeAtMs: failedMs };
}
