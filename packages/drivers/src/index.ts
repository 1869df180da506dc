/** The front door; the room is being built. */
export * from './router/index.ts';
