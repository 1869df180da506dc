import { randomBytes } from 'node:crypto';
import type { Ids } from '../clock.ts';

/** Ids from the machine's random source. */
export const randomIds: Ids = {
  fresh: (prefix) => `${prefix}-${randomBytes(16).toString('hex')}`,
};
