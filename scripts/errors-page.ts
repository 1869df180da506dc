import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorsPage } from './lib/errors-page.ts';
import { withIncidentsTable } from './lib/incidents-table.ts';

// Writes docs/errors.md and the table of docs/incidents.md from the catalogue; with --check only says whether they are
// as they should be.
const pages: Readonly<Record<string, (before: string) => string>> = {
  'docs/errors.md': errorsPage,
  'docs/incidents.md': withIncidentsTable,
};
for (const [name, write] of Object.entries(pages)) {
  const file = join(import.meta.dirname, '..', name);
  const before = readFileSync(file, 'utf8');
  const page = write(before);
  if (page === before) continue;
  if (process.argv.includes('--check')) {
    console.error(`${name} is not what the catalogue says. Run npm run errors.`);
    process.exitCode = 1;
  } else {
    writeFileSync(file, page);
  }
}
