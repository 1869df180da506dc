import { LOOK_AGAIN_MS } from './deadline.ts';
import { type Wait, wait } from './decision.ts';
import { decideDisclosure } from './disclosure.ts';
import { type DeployEvidence, slotOf } from './evidence.ts';

/** What disagrees is shown before the graph changes; `null` once all of it is, or is shown to be missing (I4). */
export function awaitDisclosure(e: DeployEvidence, untilMs: number | null = null): Wait | null {
  // One that is gone says nothing any more; who has looked last knows of it.
  const running = e.standing.filter(({ activation }) => slotOf(e, activation).process.kind !== 'absent');
  const { awaited } = decideDisclosure(e.now.monotonicMs, running);
  const [first] = awaited;
  if (first === undefined) return null;
  const others = awaited.length === 1 ? '' : ` and ${awaited.length - 1} more`;
  return wait(
    `the observer, which is to judge ${first.incarnation}${others} anew`,
    'it ends by itself; idunn status shows what disagrees',
    {
      untilMs,
      wakeAtMs: Math.min(e.now.monotonicMs + LOOK_AGAIN_MS, ...awaited.map((one) => one.untilMs)),
    },
  );
}
