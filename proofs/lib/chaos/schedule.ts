import { type Dice, dice } from '@idunn/simulator';

export const TARGETS = ['ghostlight', 'notes', 'clock'] as const;
export type Target = (typeof TARGETS)[number];

export const HELPERS = ['daemon', 'observer', 'attendant', 'router'] as const;
/** Every kind of process that is hit. */
export type Role = (typeof HELPERS)[number] | Target;

/** How a build turns out. */
export const BUILDS = ['good', 'slow', 'hanging', 'exits', 'never-active', 'garbage'] as const;
export type Build = (typeof BUILDS)[number];
/** May never be admitted. */
export const isSpoilt = (build: Build): boolean => build !== 'good' && build !== 'slow';

export type Deed =
  /** `kill -9`; of several processes of the role, `which` (0 to 1) says the one. A daemon stays away for `awayMs`. */
  | { readonly kind: 'kill'; readonly role: Role; readonly which: number; readonly awayMs: number }
  /** SIGSTOP, and SIGCONT after `forMs`. */
  | { readonly kind: 'stop'; readonly role: Role; readonly which: number; readonly forMs: number }
  | { readonly kind: 'deploy'; readonly target: Target; readonly build: Build }
  /** A good deployment, and `kill -9` of the daemon in one of its phases. */
  | { readonly kind: 'kill-in'; readonly target: Target; readonly phase: string; readonly awayMs: number }
  /** A good deployment of the gated target, and `kill -9` of its launcher. */
  | { readonly kind: 'kill-launcher' }
  | { readonly kind: 'restart'; readonly target: Target }
  /** Of the newest transaction that was asked for. */
  | { readonly kind: 'cancel' | 'expire'; readonly target: Target }
  | { readonly kind: 'freeze' | 'hold'; readonly target: Target; readonly forMs: number }
  /** No byte is free where the authority's, observer's and router's records are. */
  | { readonly kind: 'fill-disk'; readonly forMs: number };

export type Planned = Deed & { readonly atMs: number };

const PHASES = [
  'planned',
  'materialized',
  'sealed',
  'expected-published',
  'candidate-started',
  'warming',
  'incumbent-fenced',
  'write-lease-granted',
  'route-published',
  'fence-cleared',
];

const REST_MS = { least: 300, most: 2_000 };

type Card = (dealt: Dice) => Deed;

const times = (count: number, card: Card): readonly Card[] => Array.from({ length: count }, () => card);
const kill =
  (role: Role): Card =>
  (dealt) => ({
    kind: 'kill',
    role,
    which: dealt.roll(),
    awayMs: dealt.between(0, 1_500),
  });
const stop =
  (role: Role): Card =>
  (dealt) => ({
    kind: 'stop',
    role,
    which: dealt.roll(),
    forMs: dealt.between(200, 4_000),
  });
const deploy =
  (target: Target, build: Build): Card =>
  () => ({ kind: 'deploy', target, build });
const anyOf = (dealt: Dice): Target => dealt.pick(TARGETS);

/** One hand of everything; it is shuffled and played to its end before the next, so that nothing stays away by luck. */
const DECK: readonly Card[] = [
  ...times(3, kill('daemon')),
  ...[...HELPERS, ...TARGETS].flatMap((role) => [kill(role), stop(role)]),
  ...times(2, kill('ghostlight')),
  kill('notes'),
  stop('ghostlight'),
  ...times(3, deploy('ghostlight', 'good')),
  ...BUILDS.map((build) => deploy('ghostlight', build)),
  ...TARGETS.slice(1).flatMap((target) => [
    ...times(2, deploy(target, 'good')),
    ...(['exits', 'never-active', 'garbage'] as const).map((build) => deploy(target, build)),
  ]),
  ...times(4, (dealt) => ({
    kind: 'kill-in',
    target: anyOf(dealt),
    phase: dealt.pick(PHASES),
    awayMs: dealt.between(0, 1_500),
  })),
  ...times(2, () => ({ kind: 'kill-launcher' })),
  ...times(3, (dealt) => ({ kind: 'restart', target: anyOf(dealt) })),
  ...times(3, (dealt) => ({ kind: 'cancel', target: anyOf(dealt) })),
  (dealt) => ({ kind: 'expire', target: anyOf(dealt) }),
  ...times(2, (dealt) => ({ kind: 'freeze', target: anyOf(dealt), forMs: dealt.between(1_000, 6_000) })),
  ...times(2, (dealt) => ({ kind: 'hold', target: anyOf(dealt), forMs: dealt.between(1_000, 6_000) })),
  ...times(2, (dealt) => ({ kind: 'fill-disk', forMs: dealt.between(1_000, 5_000) })),
];

/** What is done when, for as long as `lastsMs`. The same seed gives the same schedule. */
export function scheduleOf(seed: number, lastsMs: number): readonly Planned[] {
  const dealt = dice(seed);
  const planned: Planned[] = [];
  let hand: Card[] = [];
  for (let atMs = 0; atMs < lastsMs; atMs += dealt.between(REST_MS.least, REST_MS.most)) {
    if (hand.length === 0) hand = [...DECK];
    const [card] = hand.splice(Math.floor(dealt.roll() * hand.length), 1);
    if (card !== undefined) planned.push({ atMs, ...card(dealt) });
  }
  return planned;
}
