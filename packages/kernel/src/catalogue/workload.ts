import { entries } from './entry.ts';

export const workloadErrors = entries({});
