export { type BubblewrapRunnerOptions, createBubblewrapRunner } from './runner.ts';
export { type SandboxAbilities, type SandboxTrial, trySandbox } from './try.ts';
