import type { Incidents } from '@idunn/client';
import { type Style, signsOf } from './style.ts';

/** Each open incident with what to do; one line when there is none. */
export function renderIncidents({ incidents }: Incidents, style: Style): string[] {
  const signs = signsOf(style);
  if (incidents.length === 0) return [style.good(`${signs.yes} no incident is open`)];
  return incidents.flatMap(({ code, subject, since, detail, remedy }) => [
    `${style.bad(`${signs.no} ${code}`)} ${style.bold(subject)} since ${since}: ${detail}`,
    `  what to do: ${remedy}`,
  ]);
}
