import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type CatalogueEntry, catalogue, catalogueByRoom } from '@idunn/kernel';
import { errorsPage } from '../../scripts/lib/errors-page.ts';
import { withIncidentsTable } from '../../scripts/lib/incidents-table.ts';
import { ROOT, readRepository } from './lib/repository.ts';

const CATALOGUE = 'packages/kernel/src/catalogue/';
const entries: readonly (readonly [string, CatalogueEntry])[] = Object.entries(catalogue);

test('the page says what the catalogue says; npm run errors writes it anew', () => {
  const page = readFileSync(join(ROOT, 'docs/errors.md'), 'utf8').split('\n');
  const right = errorsPage().split('\n');
  assert.deepEqual(
    page.filter((line) => !right.includes(line)),
    [],
    'lines that the catalogue does not say',
  );
  assert.deepEqual(
    right.filter((line) => !page.includes(line)),
    [],
    'lines that the page lacks',
  );
  assert.deepEqual(page, right);
});

test('every kind of incident is in its page with its remedy; npm run errors writes them anew', () => {
  const page = readFileSync(join(ROOT, 'docs/incidents.md'), 'utf8');
  assert.equal(page, withIncidentsTable(page));
});

test('no code has two meanings', () => {
  const codes = Object.values(catalogueByRoom).flatMap((part) => Object.keys(part));
  assert.deepEqual(codes.toSorted(), Object.keys(catalogue).toSorted());
});

test('every code is raised somewhere', () => {
  const product = [...readRepository().files.values()].filter(
    (file) => file.role === 'product' && !file.path.startsWith(CATALOGUE),
  );
  const raised = new Set(product.flatMap((file) => file.literals.map(({ text }) => text)));
  assert.deepEqual(
    entries.map(([code]) => code).filter((code) => !raised.has(code)),
    [],
  );
});

test('codes are in kebab case, reasons and remedies are whole sentences', () => {
  const wrong = entries.flatMap(([code, { reason, remedy }]) => [
    ...(/^[a-z][a-z0-9]*(?:-[a-z0-9]+)+$/.test(code) ? [] : [`${code}: not in kebab case`]),
    ...[reason, remedy]
      .filter((text) => !/^[A-Z].*\.$/s.test(text) || text.includes('\n'))
      .map((text) => `${code}: no sentence: ${text}`),
  ]);
  assert.deepEqual(wrong, []);
});

/** Where the commands are declared, and those of them that have commands of their own. */
const PROGRAMS = ['packages/cli/src/program.ts', 'packages/cli/src/program-ladder.ts'];
const GROUPS: ReadonlySet<string> = new Set(['key', 'ladder', 'bundle']);

test('F11: every command that a text of the product names is one that the program has', () => {
  const { files } = readRepository();
  const declared = PROGRAMS.flatMap((path) => files.get(path)?.literals ?? []);
  const commands = new Set(declared.map(({ text }) => text).filter((text) => /^[a-z_]+$/.test(text)));
  const product = [...files.values()].filter(({ role }) => role === 'product');
  const named = product.flatMap(({ path, literals }) =>
    literals.flatMap(({ text }) =>
      [...text.matchAll(/\bidunn ([a-z]+)(?: ([a-z]+))?/g)].map(([, command = '', next = '']) => ({
        path,
        words: GROUPS.has(command) && next !== '' ? [command, next] : [command],
      })),
    ),
  );
  assert.ok(named.length > 50, 'the texts are looked at');
  assert.deepEqual(
    named.filter(({ words }) => !words.every((word) => commands.has(word))),
    [],
  );
});
