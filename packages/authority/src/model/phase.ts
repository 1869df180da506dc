/** The phases of a deployment, in order. They never vary; what does not apply is recorded as such. */
export const PHASES = [
  'planned',
  'materialized',
  'sealed',
  'expected-published',
  'activation-issued',
  'candidate-started',
  'activation-observed',
  'warming',
  'incumbent-fenced',
  'write-lease-granted',
  'ready-observed',
  'route-published',
  'route-observed',
  'fence-cleared',
  'draining',
  'complete',
] as const;

export type Phase = (typeof PHASES)[number];

/** The way back before the fence (`aborting`) and after it (`returning`), and the ends. */
export type BackPhase = 'aborting' | 'returning';

export const OUTCOMES = [
  'admitted',
  /** Continuity brought back what was admitted. */
  'restored',
  'unchanged',
  /** A takeover was recorded. */
  'done',
  'rejected',
  'aborted',
  'cancelled',
  'expired',
  'rolled-back',
  'operator-required',
  'waiting',
] as const;

export type OutcomeName = (typeof OUTCOMES)[number];
