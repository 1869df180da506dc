export type { Account, Reader, Reading } from './reader.ts';
export * from './source.ts';
