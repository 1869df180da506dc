export { type BubblewrapRunnerOptions, createBubblewrapRunner } from './runner.ts';
