import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import type { RunReport, Step } from '@idunn/release';

export type Verdict = 'timed-out' | 'too-much-output' | 'withdrawn';

export interface Ended {
  readonly code: number | null;
  readonly by: NodeJS.Signals | null;
  /** The program could not be started, in words. */
  readonly error: string | null;
}

export interface Finished extends Ended {
  readonly step: Step;
  readonly report: RunReport;
  readonly verdict: Verdict | null;
  /** What the runner knows beside the exit, as a sentence: a limit that was reached. */
  readonly note: string | null;
  /** A process of the step may still live: nothing that it left can be sealed. */
  readonly stuck: boolean;
  readonly log: string;
  readonly lastLines: readonly string[];
}

/** What the end of a step means. Pure; a failure carries its last lines (F7). */
export function judge({
  step,
  report,
  verdict,
  code,
  by,
  error,
  stuck,
  note,
  log,
  lastLines,
}: Finished): Outcome<RunReport> {
  const detail = { step: step.id, exit: code, signal: by, lastLines, log };
  const also = note === null ? '' : ` ${note}`;
  if (stuck) {
    return refused(
      refusal('step-not-ended', `Processes of step ${step.id} were killed and not seen gone.`, { detail }),
    );
  }
  switch (verdict) {
    case 'withdrawn':
      return refused(refusal('work-aborted', `Step ${step.id} was withdrawn.`, { detail }));
    case 'timed-out':
      return refused(refusal('step-timed-out', `Step ${step.id} did not end within ${step.timeoutMs} ms.`, { detail }));
    case 'too-much-output':
      return refused(
        refusal('step-output-limit', `Step ${step.id} wrote more than ${step.outputLimitBytes} bytes.`, { detail }),
      );
    case null:
      break;
  }
  if (error !== null)
    return refused(refusal('step-not-started', `Step ${step.id} could not be started: ${error}.`, { detail }));
  if (code === 0) return ok(report);
  const how = by === null ? `exit status ${code}` : `signal ${by}`;
  return refused(refusal('step-failed', `Step ${step.id} ended with ${how}.${also}`, { detail }));
}
