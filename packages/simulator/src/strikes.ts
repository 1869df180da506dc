import { type BackPhase, PHASES, type Phase } from '@idunn/authority';

/** What may befall a transaction in a phase, one thing at a time. */
export const FAULTS = [
  'daemon-killed',
  'candidate-killed',
  'holder-killed',
  'machine-rebooted',
  'answer-lost',
  'answer-late',
  'effect-doubled',
  'effect-overtaken',
  'effect-claimed',
  'effect-denied',
  'reading-garbled',
  'write-unknown',
  'disk-full',
  'observer-gone',
  'clock-stepped',
  'clock-stood-still',
  'machine-suspended',
  'holder-paused',
  'candidate-paused',
  'presence-flapped',
  'presence-replayed',
  'death-feigned',
  'frozen',
  'held',
  'cancelled',
  'expired',
] as const;
export type FaultName = (typeof FAULTS)[number];

export const KINDS = ['deploy', 'continuity', 'restart'] as const;
export type KindName = (typeof KINDS)[number];

export const STRUCK_PHASES: readonly (Phase | BackPhase)[] = [...PHASES, 'aborting', 'returning'];

/** One fault, at the moment at which a transaction of a kind enters a phase. */
export interface Strike {
  readonly kind: KindName;
  readonly phase: Phase | BackPhase;
  readonly fault: FaultName;
  /** How long a freeze, a hold or an outage lasts that strikes it; a moment, where nothing is said. */
  readonly lastsMs?: number;
}

/** Why a cell of the table cannot be; `null` where it can, and then a run must reach it. */
export function impossible({ kind, phase }: Strike): string | null {
  if (kind === 'deploy') return null;
  if (phase === 'planned' && kind === 'continuity')
    return 'continuity begins with what was admitted: nothing is planned';
  if (BUILT.includes(phase)) return 'a restart fetches, builds and publishes nothing';
  if (phase === 'returning' && kind === 'continuity') return 'continuity has nothing to return to, and goes forward';
  return null;
}

const BUILT: readonly Strike['phase'][] = ['materialized', 'sealed', 'expected-published'];
