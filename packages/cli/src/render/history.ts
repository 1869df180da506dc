import type { History, HistoryEntryAnswer } from '@idunn/client';
import { printable } from './refusal.ts';
import type { Style } from './style.ts';
import { table } from './table.ts';

/** Longest body that is shown on its line; --json has it whole. */
const BODY_CHARACTERS = 160;

/** The history for a person, oldest first, as it would be read aloud. */
export const renderHistory = ({ entries }: History, style: Style): string[] =>
  table(
    entries
      .toReversed()
      .map((entry) => [
        style.dim(`${entry.sequence}`),
        entry.at,
        entry.subject,
        style.bold(entry.kind),
        `${entry.actor}  ${bodyOf(entry)}`,
      ]),
  );

/** What is looked for first stands first; an id that every line of a transaction repeats stands last. */
const RANKS: Readonly<Record<string, number>> = { outcome: -3, phase: -2, refusal: -1, note: -1, transaction: 1 };
const rankOf = ([key]: readonly [string, unknown]): number => RANKS[key] ?? 0;

function bodyOf({ subject, body }: HistoryEntryAnswer): string {
  if (body === null || typeof body !== 'object') return printable(String(body));
  const words = Object.entries(body)
    .filter(([key, value]) => value !== null && !(key === 'target' && value === subject))
    .toSorted((a, b) => rankOf(a) - rankOf(b))
    .map(([key, value]) => `${key}=${wordOf(value)}`);
  const text = printable(words.join(' '));
  return text.length > BODY_CHARACTERS ? `${text.slice(0, BODY_CHARACTERS)}…` : text;
}

/** A refusal by its code, everything else as it stands. */
function wordOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  return 'code' in value && typeof value.code === 'string' ? value.code : JSON.stringify(value);
}
