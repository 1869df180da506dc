import type { RefusalAnswer } from './schemas/common.ts';

/** What a daemon answered: a value, or a refusal with reason and remedy. A dead daemon is a refusal too. */
export type Answer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: RefusalAnswer };

export const answered = <T>(value: T): Answer<T> => ({ ok: true, value });

export const declined = (code: string, reason: string, remedy: string): Answer<never> => ({
  ok: false,
  refusal: { code, reason, remedy },
});
