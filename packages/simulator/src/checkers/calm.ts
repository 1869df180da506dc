import type { Misfortune, Scenario } from '../scenario.ts';
import type { FaultName } from '../strikes.ts';

/** What may befall the world of a scenario, by the name under which the scenario has it. */
export interface Allowed {
  readonly spans?: readonly (keyof Scenario)[];
  readonly strikes?: readonly FaultName[];
  readonly misfortune?: Misfortune;
}

/** Nothing befalls the world but this, and the deaths of Idunn at its crash points. */
export function isCalmBut(scenario: Scenario, { spans = [], strikes = [], misfortune }: Allowed): boolean {
  const apart: readonly string[] = ['deploys', 'strikes', ...spans];
  const faults = Object.entries(scenario).filter(([name, value]) => {
    if (name.endsWith('Chance') && name !== 'crashChance') return value > 0;
    return Array.isArray(value) && value.length > 0 && !apart.includes(name);
  });
  return (
    faults.length === 0 &&
    scenario.meets === undefined &&
    scenario.rival === undefined &&
    scenario.restored === undefined &&
    (scenario.misfortune === undefined || scenario.misfortune.what === misfortune) &&
    (scenario.strikes ?? []).every(({ fault }) => strikes.includes(fault))
  );
}

export const isEveryBuildGood = ({ deploys }: Scenario): boolean =>
  deploys.every(({ behaviour, newSchema }) => behaviour === 'good' && newSchema !== true);

export const isEveryBuildOnce = ({ deploys }: Scenario, target: string): boolean => {
  const own = deploys.filter((deploy) => deploy.target === target);
  return new Set(own.map(({ behaviour, revision }) => `${behaviour} ${revision}`)).size === own.length;
};

const LIES: ReadonlySet<FaultName | undefined> = new Set(['effect-claimed', 'effect-denied', 'reading-garbled']);
const OVERTAKEN: ReadonlySet<FaultName | undefined> = new Set(['effect-overtaken']);
const MISLEADING: ReadonlySet<FaultName | undefined> = new Set(['answer-lost', ...OVERTAKEN]);

const meets = ({ strikes = [], meets: met }: Scenario, faults: ReadonlySet<FaultName | undefined>): boolean =>
  [met?.fault, ...strikes.map(({ fault }) => fault)].some((fault) => faults.has(fault));

/** A driver may tell what is not so. */
export const mayLie = (scenario: Scenario): boolean => (scenario.wrongChance ?? 0) > 0 || meets(scenario, LIES);

/** An answer may be lost, or be overtaken by what was asked after it. */
export const mayMislead = (scenario: Scenario): boolean =>
  scenario.lostChance + (scenario.overtakenChance ?? 0) > 0 || meets(scenario, MISLEADING);

/** What was asked may be carried out after what was asked later. */
export const mayOvertake = (scenario: Scenario): boolean =>
  (scenario.overtakenChance ?? 0) > 0 || meets(scenario, OVERTAKEN);
