export * from './book/book.ts';
export { openTrails } from './edge/sqlite-trails.ts';
export * from './observer.ts';
