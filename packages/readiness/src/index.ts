export type * from './model/expected.ts';
export type * from './model/presence.ts';
