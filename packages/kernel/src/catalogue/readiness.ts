import { entries } from './entry.ts';

export const readinessErrors = entries({});
