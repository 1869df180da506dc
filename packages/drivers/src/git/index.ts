export * from './source.ts';
