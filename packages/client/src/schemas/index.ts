export * from './command.ts';
export * from './common.ts';
export * from './daemon.ts';
export * from './event.ts';
export * from './history.ts';
export * from './plan.ts';
export * from './status.ts';
export * from './transaction.ts';
