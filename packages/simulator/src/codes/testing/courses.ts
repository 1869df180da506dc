import { CALM, type Scenario, scenarioOf, twoDeploys } from '../../scenario.ts';
import type { FaultName, Strike } from '../../strikes.ts';
import { BEHAVIOURS, type Behaviour, ODD, RARER } from '../../world/behaviour.ts';
import type { TargetShape } from '../../world/sources.ts';

const EMBEDDED: TargetShape = { stores: 1, routed: true };
const GATED: TargetShape = { ...EMBEDDED, attended: true };
const ALONE: TargetShape = { ...EMBEDDED, alone: true };

/** Every way for a build to behave, of both kinds. */
const builds = [...BEHAVIOURS, ...RARER, ...ODD].flatMap((behaviour) =>
  [EMBEDDED, GATED].map((shape) => twoDeploys(behaviour, shape)),
);

const first = (behaviour: Behaviour = 'good', shape = EMBEDDED): Scenario => ({
  ...CALM,
  seed: 1,
  shapes: { app: shape },
  deploys: [{ target: 'app', atMs: 10, behaviour, revision: 1 }],
});

/** The first answer, reading or write behind each of some crash points meets a fault. */
const meeting = (fault: FaultName, from: number, until: number, shape = EMBEDDED): readonly Scenario[] =>
  Array.from({ length: until - from }, (_, index) => ({
    ...twoDeploys('good', shape),
    meets: { at: from + index, fault },
  }));

const struck = (phase: Strike['phase'], fault: FaultName, shape = EMBEDDED): Scenario => ({
  ...twoDeploys('good', shape),
  strikes: [{ kind: 'deploy', phase, fault, lastsMs: 30_000 }],
});

const overHanging: Scenario['deploys'] = [
  { target: 'app', atMs: 10, behaviour: 'holds-database', revision: 1 },
  { target: 'app', atMs: 400, behaviour: 'good', revision: 2 },
];

const unreadable = (what: 'process' | 'lease' | 'route', shape = EMBEDDED): Scenario => ({
  ...twoDeploys('good', shape),
  unreadable: [{ what, target: 'app', fromMs: 230, untilMs: 4_000 }],
});

const killed = (...atMs: readonly number[]): Scenario => ({
  ...first(),
  kills: atMs.map((at) => ({ target: 'app', atMs: at })),
});

/** Around the moment at which a launcher becomes its program, it dies or cannot be seen. */
const atItsGate = Array.from({ length: 24 }, (_, index) => 270 + 2 * index).flatMap((fromMs): Scenario[] => [
  {
    ...twoDeploys('lingers-at-its-gate', GATED),
    oddities: [{ atMs: fromMs, target: 'app', fault: 'candidate-killed' }],
  },
  { ...twoDeploys('good', GATED), unreadable: [{ what: 'process', target: 'app', fromMs, untilMs: fromMs + 300 }] },
]);

/** Courses of the world that between them come to every code; what no scenario can say is in the test. */
export const COURSES: readonly Scenario[] = [
  ...builds,
  ...meeting('effect-claimed', 76, 80),
  ...meeting('effect-claimed', 96, 140),
  ...meeting('reading-garbled', 60, 180),
  // Around the grant.
  ...meeting('effect-denied', 130, 142),
  // A program that was being spawned goes down with its daemon.
  ...Array.from({ length: 20 }, (_, index) => ({ ...twoDeploys('good'), crashAt: 90 + index })),
  { ...first('holds-database'), deploys: overHanging },
  struck('planned', 'cancelled'),
  struck('warming', 'expired'),
  struck('materialized', 'machine-suspended'),
  struck('sealed', 'machine-suspended'),
  struck('incumbent-fenced', 'machine-suspended'),
  struck('incumbent-fenced', 'candidate-paused'),
  ...atItsGate,
  struck('activation-observed', 'observer-gone'),
  unreadable('process'),
  unreadable('lease'),
  unreadable('route'),
  unreadable('process', ALONE),
  killed(1_000, 3_000, 12_000, 24_000, 46_000, 90_000, 180_000),
  // What was launched last went with the records that were put back.
  { ...killed(1_000, 2_000), restored: { takenAtMs: 600, atMs: 12_000 } },
  { ...killed(1_000), holds: [{ target: 'app', fromMs: 900, untilMs: 4_000, unreadable: false }] },
  { ...killed(1_000), holds: [{ target: 'app', fromMs: 900, untilMs: 4_000, unreadable: true }] },
  { ...first(), freezes: [{ target: 'app', fromMs: 5, untilMs: 4_000, unreadable: true }] },
  { ...first(), orders: [{ target: 'app', atMs: 2, kind: 'restart' }] },
  { ...twoDeploys('good'), fullChance: 0.8 },
  {
    ...killed(1_000, 2_000, 3_000),
    holds: [{ target: 'app', fromMs: 900, untilMs: 9_000, unreadable: false }],
    uncertainChance: 0.5,
  },
  ...Array.from({ length: 60 }, (_, seed) => scenarioOf(seed)),
];
