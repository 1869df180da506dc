import type { Scenario } from './scenario.ts';
import { type Broken, type Report, Simulation } from './simulation.ts';

export type { Report };

/** Runs one scenario to its end and judges it. `broken`: a variant of the decisions, to see a checker bite. */
export const run = (scenario: Scenario, broken?: Broken): Promise<Report> => new Simulation(scenario, broken).run();
