import type { Incidents } from '@idunn/client';
import { printable } from './refusal.ts';
import { type Style, signsOf } from './style.ts';

/** Each open incident with what to do, after those that are over, a line each; one line when there is none. */
export function renderIncidents({ incidents }: Incidents, style: Style): string[] {
  const signs = signsOf(style);
  if (incidents.length === 0) return [style.good(`${signs.yes} no incident is open`)];
  return incidents.flatMap(({ code, subject, since, closedAt, detail, remedy }) => {
    const what = `${style.bold(subject)} since ${since}`;
    if (closedAt !== null)
      return [`${style.good(`${signs.yes} ${code}`)} ${what} until ${closedAt}: ${printable(detail)}`];
    return [`${style.bad(`${signs.no} ${code}`)} ${what}: ${printable(detail)}`, `  what to do: ${remedy}`];
  });
}
