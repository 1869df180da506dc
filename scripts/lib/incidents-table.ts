import { INCIDENT_CODES } from '@idunn/authority';
import { catalogue } from '@idunn/kernel';

/** Every kind of incident with what it means and what to do, as the lines of docs/incidents.md. */
export const incidentsTable = (): readonly string[] => [
  '| incident | what it is | what to do |',
  '|---|---|---|',
  ...INCIDENT_CODES.map((code) => `| \`${code}\` | ${catalogue[code].reason} | ${catalogue[code].remedy} |`),
];

/** The page with its table as it should be. */
export function withIncidentsTable(page: string): string {
  const lines = page.split('\n');
  const [head = ''] = incidentsTable();
  const from = lines.indexOf(head);
  if (from === -1) throw new Error('docs/incidents.md has lost the table of incidents');
  const length = lines.slice(from).findIndex((line) => !line.startsWith('|'));
  return lines.toSpliced(from, length, ...incidentsTable()).join('\n');
}
