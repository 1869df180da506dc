/** The front door: one folder for each outside system. */

export * from './attendant/index.ts';
export * from './bubblewrap/index.ts';
export * from './channel/index.ts';
export * from './git/index.ts';
export * from './observer-link/index.ts';
export * from './process/index.ts';
export * from './router/index.ts';
export * from './runner/index.ts';
export * from './sqlite-lease/index.ts';
