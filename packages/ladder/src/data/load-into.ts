import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import type { Auditing } from '../audit/record.ts';
import { type Clearance, requireSlot } from '../guard/clearance.ts';
import type { Slot } from '../ladder/model.ts';
import { guardedChange } from '../operations/guarded.ts';
import type { AppData, Quiesced } from './app-data.ts';
import { type Part, requireComplete } from './report.ts';

export interface LoadRequest {
  readonly data: AppData;
  readonly clearance: Clearance;
  readonly slot: Slot;
  /** The unsealed bundle. */
  readonly staging: string;
  readonly auditing: Auditing;
  /**
   * Asked once the slot stands still and before anything is replaced: whether what was agreed to is still all that
   * would be lost.
   */
  readonly agreed?: () => Promise<Outcome<void>>;
}

export interface Loaded {
  readonly parts: readonly Part[];
  /** What was taken out of the copy so that it does not act on the world. */
  readonly neutralised: readonly string[];
}

/**
 * Replaces the data of a slot: quiesce, load, neutralise, resume. After a load that failed the slot is started again
 * with the data that it had. A copy that was loaded and could not be neutralised is never started: its mail would go
 * out.
 */
export async function loadInto(request: LoadRequest): Promise<Outcome<Loaded>> {
  const { data, clearance, slot } = request;
  const step = <T>(what: string, change: () => Promise<Outcome<T>>): Promise<Outcome<T>> =>
    guardedChange(request.auditing, requireSlot(clearance, slot), `${what} the data of`, slot.namespace, change);
  const stopped = await step('quiesce', () => data.quiesce(clearance, slot));
  if (!stopped.ok) return stopped;
  const token = stopped.value;
  const outcome = await loadAndNeutralise(request, token, step);
  if (!outcome.ok && outcome.refusal.code === 'copy-not-neutralised') return outcome;
  const resumed = await step('resume', () => data.resume(clearance, slot, token));
  return outcome.ok && !resumed.ok ? resumed : outcome;
}

type Step = <T>(what: string, change: () => Promise<Outcome<T>>) => Promise<Outcome<T>>;

async function loadAndNeutralise(
  { data, clearance, slot, staging, agreed }: LoadRequest,
  token: Quiesced,
  step: Step,
): Promise<Outcome<Loaded>> {
  const stands = await agreed?.();
  if (stands?.ok === false) return stands;
  const loaded = await step('load', () => data.load(clearance, slot, staging, token));
  if (!loaded.ok) return loaded;
  const { parts } = loaded.value;
  const neutralised = await step('neutralise', () => data.neutraliseAfterLoad(clearance, slot, token));
  if (!neutralised.ok) {
    const { code, reason } = neutralised.refusal;
    const detail = { code, reason };
    return refused(
      refusal('copy-not-neutralised', `${slot.name} holds the copy and was not started: ${reason}`, { detail }),
    );
  }
  const whole = requireComplete(parts);
  return whole.ok ? ok({ parts, neutralised: neutralised.value }) : whole;
}
