import type { Word } from '../model.ts';

/** A TOML string: JSON's escapes are TOML's. */
export const quoted = (text: string): string => JSON.stringify(text).replaceAll('\u007f', '\\u007f');

export const wordOf = (word: Word): string =>
  typeof word === 'string' ? quoted(word) : `{ slot = ${quoted(word.slot)} }`;

export const listOf = (words: readonly Word[]): string => `[${words.map(wordOf).join(', ')}]`;

/** A comment of one line or several, each begun anew. */
export const comment = (text: string): string =>
  text
    .split('\n')
    .map((line) => `# ${line}`.trimEnd())
    .join('\n');

/** Paragraphs of a file, the empty ones left out. */
export const paragraphs = (parts: readonly (string | null)[]): string =>
  `${parts.filter((part) => part !== null && part !== '').join('\n\n')}\n`;

/** A key of a table: bare where TOML lets it be. */
export const keyOf = (name: string): string => (/^[A-Za-z0-9_-]+$/.test(name) ? name : quoted(name));
