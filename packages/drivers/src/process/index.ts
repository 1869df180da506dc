export { createProcessDriver, type ProcessDriver } from './driver.ts';
export type { ObserverEndpoint } from './launch-document.ts';
export type { ProcessDriverOptions } from './options.ts';
