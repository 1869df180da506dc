export * from './samples.ts';
export * from './workload.ts';
