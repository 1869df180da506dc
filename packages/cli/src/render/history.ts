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

function bodyOf({ body }: HistoryEntryAnswer): string {
  if (body === null || typeof body !== 'object') return printable(String(body));
  const words = Object.entries(body)
    .filter(([, value]) => value !== null)
    .map(([key, value]) => `${key}=${typeof value === 'object' ? JSON.stringify(value) : String(value)}`);
  const text = printable(words.join(' '));
  return text.length > BODY_CHARACTERS ? `${text.slice(0, BODY_CHARACTERS)}…` : text;
}
