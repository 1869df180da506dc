export { type Account, type Reader, type Reading, readerFor } from './reader.ts';
export * from './source.ts';
