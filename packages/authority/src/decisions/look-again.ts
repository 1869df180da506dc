import { LOOK_AGAIN_MS } from './deadline.ts';
import { type Decision, wait } from './decision.ts';
import type { DeployEvidence } from './evidence.ts';
import type { Held } from './lease-at-hand.ts';

/** Waits before the fence, where nothing of the incumbent was touched yet, and looks again after a moment (I7). */
export const lookAgain = (
  { e, untilMs }: { readonly e: DeployEvidence; readonly untilMs: number | null },
  what: string,
  held?: Held,
): Decision =>
  wait(what, held?.remedy ?? 'idunn doctor; the incumbent keeps serving meanwhile', {
    untilMs,
    wakeAtMs: e.now.monotonicMs + LOOK_AGAIN_MS,
    incident: held?.incident,
  });
