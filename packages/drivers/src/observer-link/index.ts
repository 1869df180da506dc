export {
  BOOTSTRAP_KIND,
  type BootstrapCorrelator,
  type BootstrapOptions,
  createBootstrapCorrelator,
} from './bootstrap-correlator.ts';
export { chooseObserver } from './choose-observer.ts';
export { createObserverLink, type ObserverLink, type ObserverLinkOptions } from './observer-link.ts';
export type { ObserverSelf } from './session.ts';
