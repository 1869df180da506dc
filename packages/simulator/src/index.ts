export { TEETH, type Tooth } from './broken.ts';
export { TEETH_OF_KINDS } from './broken-kinds.ts';
export type { Checked, Violation } from './checkers/judged.ts';
export { type FakeStore, type FakeStoreHook, fakeStore, type WriteFate } from './fake-store.ts';
export { type Report, run } from './run.ts';
export { CALM, type Scenario, scenarioOf, twoDeploys } from './scenario.ts';
export { Simulation } from './simulation.ts';
export { type Sweep, sweep } from './sweep.ts';
export { BEHAVIOURS, type Behaviour } from './world/behaviour.ts';
