import { entries } from './entry.ts';

export const driversErrors = entries({});
