import { entries } from './entry.ts';

export const daemonErrors = entries({});
