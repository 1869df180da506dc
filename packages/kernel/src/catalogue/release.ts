import { entries } from './entry.ts';

export const releaseErrors = entries({});
