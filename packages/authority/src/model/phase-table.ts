import type { PhaseDeadlines } from '@idunn/release';
import { PHASES, type Phase } from './phase.ts';

/** What the engine reads from the world before it asks the decision of a phase. */
export type Reading =
  | 'freeze'
  | 'observer'
  | 'admitted'
  | 'claim'
  | 'successor'
  | 'predecessor'
  | 'others'
  | 'rows'
  | 'route';

export interface PhaseRow {
  readonly phase: Phase;
  readonly order: number;
  /** Frozen in the plan; several add up from the handover intent on. Empty: nothing outside is waited for. */
  readonly deadline: readonly (keyof PhaseDeadlines)[];
  readonly reads: readonly Reading[];
  /** What is read besides before a launch of what cannot overlap, whose intent is on leaving `activation-issued`. */
  readonly readsToStop: readonly Reading[];
  /** Inside the handover the processes, rows and route are read when something put them in doubt, not each time. */
  readonly read: 'always' | 'in-doubt';
  /** `on-entry`: a record of its own; `by-intent`: covered by the handover intent and recorded afterwards. */
  readonly durable: 'on-entry' | 'by-intent';
  readonly cancellable: boolean;
  /** A freeze is read before this phase is left (I8). */
  readonly freezeRead: boolean;
  /** Which contract the target must have; without it the phase is recorded as not applicable. */
  readonly applies: 'always' | 'with-state' | 'with-route';
}

type Draft = Partial<Omit<PhaseRow, 'phase' | 'order'>>;

const beforeFence: Omit<PhaseRow, 'phase' | 'order'> = {
  deadline: [],
  reads: [],
  readsToStop: [],
  read: 'always',
  durable: 'on-entry',
  cancellable: true,
  freezeRead: false,
  applies: 'always',
};
const handover: Draft = {
  reads: ['rows', 'route', 'successor', 'predecessor'],
  readsToStop: ['others'],
  read: 'in-doubt',
  durable: 'by-intent',
  cancellable: false,
};
const after: Draft = { cancellable: false };

const drafts: Readonly<Record<Phase, Draft>> = {
  planned: { reads: ['admitted', 'claim'] },
  materialized: { deadline: ['materializeMs'] },
  sealed: { deadline: ['sealMs'], reads: ['freeze', 'observer'], freezeRead: true },
  'expected-published': { deadline: ['startMs'] },
  'activation-issued': {
    deadline: ['startMs'],
    readsToStop: ['freeze', 'claim', 'rows', 'route', 'predecessor', 'others'],
  },
  'candidate-started': { deadline: ['startMs'], reads: ['successor'] },
  'activation-observed': { deadline: ['warmingMs'], reads: ['successor'] },
  warming: {
    deadline: ['warmingMs'],
    reads: ['freeze', 'claim', 'rows', 'route', 'successor', 'predecessor'],
    freezeRead: true,
  },
  'incumbent-fenced': { ...handover, deadline: ['handoverMs'], applies: 'with-state' },
  'write-lease-granted': { ...handover, deadline: ['handoverMs', 'readyMs'], applies: 'with-state' },
  'ready-observed': { ...handover, deadline: ['handoverMs', 'readyMs'] },
  'route-published': { ...handover, deadline: ['handoverMs', 'readyMs', 'routeMs'], applies: 'with-route' },
  'route-observed': { ...handover, deadline: ['handoverMs', 'readyMs', 'routeMs'], applies: 'with-route' },
  'fence-cleared': after,
  draining: after,
  complete: after,
};

/** The phases of a deployment as data. They never vary. */
export const PHASE_TABLE: readonly PhaseRow[] = PHASES.map((phase, order) => ({
  ...beforeFence,
  ...drafts[phase],
  phase,
  order,
}));

const byPhase = new Map(PHASE_TABLE.map((row) => [row.phase, row]));

export function phaseRow(phase: Phase): PhaseRow {
  const row = byPhase.get(phase);
  if (row === undefined) throw new Error(`no such phase: ${phase}`);
  return row;
}

export const isPhase = (name: string): name is Phase => (PHASES as readonly string[]).includes(name);
