export { createRunner } from './by-grant.ts';
export { createHostRunner, type HostRunnerOptions } from './runner.ts';
