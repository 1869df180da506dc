export type * from './model/plan.ts';
export type * from './model/sealed-release.ts';
export type * from './model/source-facts.ts';
export type * from './ports/release-port.ts';
