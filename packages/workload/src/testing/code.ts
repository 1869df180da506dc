import { IdunnError, type IdunnErrorCode } from '../errors.ts';

/** For `assert.throws`: an error of ours with this code. */
export const code = (expected: IdunnErrorCode) => (error: unknown) =>
  error instanceof IdunnError && error.code === expected;
