import type { decide } from '@idunn/authority';
import type { Scenario } from './scenario.ts';
import { type Report, Simulation } from './simulation.ts';

/** Runs one scenario to its end and judges it from the world's own ledger. */
export const run = (scenario: Scenario, broken?: typeof decide): Promise<Report> =>
  new Simulation(scenario, broken).run();

export type { Report } from './simulation.ts';
