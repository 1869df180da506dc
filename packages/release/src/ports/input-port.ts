import type { Outcome } from '@idunn/kernel';
import type { PinnedInput } from '../model/plan.ts';
import type { StageId } from './source-port.ts';

/** Fetches pinned inputs once and places verified copies of them. */
export interface InputPort {
  /** Puts the input's bytes, read-only and verified, into the stage; fetched only when they are not kept yet. */
  place(input: PinnedInput, stage: StageId, signal: AbortSignal): Promise<Outcome<{ readonly fetched: boolean }>>;
}
