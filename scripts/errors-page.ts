import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorsPage } from './lib/errors-page.ts';

// Writes docs/errors.md from the catalogue; with --check only says whether it is as it should be.
const file = join(import.meta.dirname, '../docs/errors.md');
const page = errorsPage();
if (process.argv.includes('--check')) {
  if (readFileSync(file, 'utf8') !== page) {
    console.error('docs/errors.md is not what the catalogue says. Run npm run errors.');
    process.exitCode = 1;
  }
} else {
  writeFileSync(file, page);
}
