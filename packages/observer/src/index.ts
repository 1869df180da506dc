export { OBSERVER_KINDS } from './book/records.ts';
export { type Installation, observerInstallation } from './installation.ts';
