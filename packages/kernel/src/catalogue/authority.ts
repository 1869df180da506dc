import { entries } from './entry.ts';

export const authorityErrors = entries({});
