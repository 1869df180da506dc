/** How a build behaves. `good` is what the others fall short of. */
export const BEHAVIOURS = [
  'good',
  'exits-at-start',
  'never-warms',
  'never-active',
  'lies-about-incarnation',
  'other-binary',
  'claims-early',
  'ignores-relinquish',
  'exits-after-grant',
  'exits-once-after-grant',
  'says-failed',
  'redirects-for-ever',
  'own-database',
  'build-fails',
  'holds-database',
  'lies-when-relaunched',
  // Of programs behind a gate; any other program with such a behaviour is a good one.
  'fails-its-rehearsal',
  'exits-at-its-gate',
  'passes-its-gate',
  'stays-at-its-gate',
  'degrades-when-active',
] as const;

/** Drawn by a roll of their own (`rarer.ts`): the scenarios of seeds stay what they were without them. */
export const RARER = [
  /** Its launcher is stopped for a while before it reads the row, and again before it becomes the program. */
  'lingers-at-its-gate',
  /** It leaves a child that writes on when its program has ended. */
  'forks-a-writer',
] as const;
/** Drawn by another roll of their own (`adversity.ts`). */
export const ODD = [
  /** Active, warming, degraded, and active again. */
  'flaps-when-active',
  /** Its connection repeats old words, its own or those of an earlier launch. */
  'replays-presence',
  /** Says that it gave its lease up, and writes on. */
  'feigns-relinquish',
  /** Once it is granted, it speaks to Idunn alone. */
  'leaves-the-observer-out',
  'other-endpoint',
  'other-schema',
  'other-capability',
  'other-process',
] as const;

/** Drawn by nobody: only tests and teeth name them. */
export const NAMED = [
  /** Its later launches listen, and say nothing. */
  'hangs-when-relaunched',
] as const;

/** What a repository asks for that its binding does not grant; it is held against the binding by the real compiler. */
export const GREEDY = [
  'asks-for-a-secret',
  'asks-for-a-variable',
  'asks-for-a-slot',
  'asks-for-a-program',
  'asks-for-a-path',
  'asks-for-a-capability',
] as const;
export type Behaviour = (typeof BEHAVIOURS | typeof RARER | typeof ODD | typeof NAMED | typeof GREEDY)[number];

/** Builds of which no later launch can live. */
export const DOOMED: ReadonlySet<Behaviour> = new Set(['lies-when-relaunched']);

/** Builds that can end admitted. */
export const ADMISSIBLE: readonly Behaviour[] = [
  'good',
  'ignores-relinquish',
  'exits-once-after-grant',
  'own-database',
  'holds-database',
  'fails-its-rehearsal',
  'exits-at-its-gate',
  'passes-its-gate',
  'stays-at-its-gate',
  'lingers-at-its-gate',
  'forks-a-writer',
  'flaps-when-active',
  'replays-presence',
  'feigns-relinquish',
  'degrades-when-active',
];

/** Builds of which a rehearsal on a copy sees that they cannot start. */
export const UNSTARTABLE: readonly Behaviour[] = ['exits-at-start', 'never-warms', 'fails-its-rehearsal'];
