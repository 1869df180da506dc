export { createHostRunner, type HostRunnerOptions } from './runner.ts';
