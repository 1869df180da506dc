import { type CatalogueEntry, catalogueByRoom } from '@idunn/kernel';

const TITLES: Readonly<Record<keyof typeof catalogueByRoom, string>> = {
  kernel: 'Keys, signed messages and the record store',
  release: 'Recipes, bindings, fleets and builds',
  readiness: 'Expected, Present and Ready',
  authority: 'Transactions, leases and routes',
  drivers: 'Drivers',
  router: 'The built-in router',
  attendant: 'The attendant',
  workload: 'Workloads',
  daemon: 'The daemon and its API',
  ladder: 'The ladder',
};

const INTRODUCTION = `# Errors

Every error that Idunn tells you about has a code that never changes its meaning. A refusal changes nothing. This page
is made from the catalogue in \`packages/kernel/src/catalogue\` by \`npm run errors\`; a test holds the two together.

**Yours** is something that you can put right in a file or command, **system** something underneath. An error that is
**retryable** can end by itself or after the remedy, and the same request may then be given again; a **final** one needs
another request.
`;

/** The page that documents the whole catalogue. */
export function errorsPage(): string {
  const rooms = Object.entries(catalogueByRoom) as [keyof typeof TITLES, Readonly<Record<string, CatalogueEntry>>][];
  return [INTRODUCTION, ...rooms.flatMap(([room, entries]) => section(TITLES[room], entries))].join('\n');
}

function section(title: string, entries: Readonly<Record<string, CatalogueEntry>>): readonly string[] {
  const rows = Object.entries(entries).map(([code, entry]) => row(code, entry));
  if (rows.length === 0) return [];
  return [
    `## ${title}\n`,
    '| code | reason | remedy | whose | again |',
    '| --- | --- | --- | --- | --- |',
    ...rows.toSorted(),
    '',
  ];
}

const row = (code: string, { reason, remedy, blame, retry }: CatalogueEntry): string =>
  `| ${[`\`${code}\``, cell(reason), cell(remedy), blame === 'user' ? 'yours' : 'system', retry].join(' | ')} |`;

const cell = (text: string): string => text.replaceAll('|', '\\|');
