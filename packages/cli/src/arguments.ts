import { InvalidArgumentError } from 'commander';
import type { Store } from './init/model.ts';
import { storeOf } from './init/store.ts';
import { isMoment } from './when.ts';

/*
 * The words that commands take. Each is checked before anything is asked of anybody (F6): a parser answers what a word
 * means, or says what it should have been.
 */

const matching =
  (pattern: RegExp, should: string) =>
  (text: string): string => {
    if (!pattern.test(text)) throw new InvalidArgumentError(should);
    return text;
  };

const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

export const targetName = matching(NAME, 'A target is up to 63 of a-z, 0-9 and -.');
export const slotName = matching(NAME, 'A slot is up to 63 of a-z, 0-9 and -.');
export const subjectName = matching(
  /^(?:profile:)?[a-z0-9][a-z0-9-]{0,62}$/,
  'It is a target or profile:NAME; each name is up to 63 of a-z, 0-9 and -.',
);
/** Whom a takeover sets aside: an owner, or an activation. */
export const standingName = matching(
  /^(?:act-[\u0021-\u007e]{1,251}|[a-z0-9][a-z0-9-]{0,62}\/[a-z0-9][a-z0-9-]{0,62})$/,
  'It is FLEET/TARGET or an activation (act-…), as the refusal of idunn up names it.',
);
export const operationName = matching(
  /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/,
  'It is up to 128 of A-Z, a-z, 0-9, dot, underscore, colon and -.',
);
export const urlPath = matching(/^\/[\u0021-\u007e]*$/, 'It is a path that begins with a slash.');
export const commitName = matching(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/, 'It is a full Git commit id.');
export const digestName = matching(/^sha256:[0-9a-f]{64}$/, 'It is sha256: and 64 hexadecimal digits.');

export const momentName = (text: string): string => {
  if (!isMoment(text)) throw new InvalidArgumentError('It is 7d, 12h or 30m from now, or a moment such as 2027-01-31.');
  return text;
};

const wholeNumberWithin =
  (most: number, should: string) =>
  (text: string): number => {
    const value = Number(text);
    if (!Number.isInteger(value) || value < 1 || value > most) throw new InvalidArgumentError(should);
    return value;
  };

export const wholeNumber = wholeNumberWithin(Number.POSITIVE_INFINITY, 'It is a whole number above 0.');
export const wholeNumberTo = (most: number) => wholeNumberWithin(most, `It is a whole number from 1 to ${most}.`);
export const portNumber = wholeNumberTo(65_535);

/** Several stores may be named, each with the option once. */
export const stores = (text: string, before: readonly Store[] = []): readonly Store[] => {
  const store = storeOf(text);
  if (store === null)
    throw new InvalidArgumentError('It is [ID=]sqlite:FILE or [ID=]files:DIRECTORY, inside the state’s directory.');
  if (before.some(({ id }) => id === store.id)) {
    throw new InvalidArgumentError('Each store needs an id of its own: ID=sqlite:FILE or ID=files:DIRECTORY.');
  }
  return [...before, store];
};
