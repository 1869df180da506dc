import { basename } from 'node:path';
import { anyOf, evidence, type Facts, sources } from '../facts.ts';
import type { Doubt, Guess, Store } from '../model.ts';
import { purposeOf, type ReadVariable } from './environment.ts';

const SQLITE = anyOf(
  /["'](?:better-sqlite3|node:sqlite|sqlite3|sqlite|bun:sqlite|@libsql\/client)["']/,
  /^\s*(?:import|from)\s[^\n]*\bsqlite3\b|django\.db\.backends\.sqlite3/,
  /["'](?:modernc\.org\/sqlite|github\.com\/mattn\/go-sqlite3)["']/,
);
const DATABASE_FILE = /["'`]([^"'`\n]*?([\w.-]+\.(?:db|sqlite3?|sqlite)))["'`]/;

/** What the program keeps, guessed from the SQLite library that it uses and the files that lie there. */
export function guessStores(
  facts: Facts,
  variables: readonly ReadVariable[],
  target: string,
): { readonly stores: readonly Store[]; readonly guesses: readonly Guess[]; readonly doubts: readonly Doubt[] } {
  const library = evidence(sources(facts), SQLITE);
  const lying = facts.untracked.find((path) => /\.(?:db|sqlite3?|sqlite)$/.test(path)) ?? null;
  if (library === null) {
    const directory = variables.find(({ name }) => purposeOf(name) === 'state-root');
    const kept = directory === undefined ? lying : `${directory.name} (${directory.where})`;
    const doubts =
      directory === undefined && lying === null
        ? []
        : [
            {
              what: `${kept} looks like kept data, of a kind that is not known`,
              remedy: 'Say what is kept with --state files:DIRECTORY or --state sqlite:FILE, else it has no state.',
            },
          ];
    return { stores: [], guesses: [{ what: 'it keeps no state', because: 'no SQLite library is used' }], doubts };
  }
  const path = variables.find(({ name }) => purposeOf(name) === 'state-path' && name !== '');
  const literal = evidence(sources(facts), DATABASE_FILE);
  const name = fileName(path?.fallback) ?? fileName(literal?.match[1]) ?? fileName(lying) ?? `${target}.db`;
  return {
    stores: [{ id: 'data', kind: 'sqlite', path: name }],
    guesses: [
      {
        what: `its state is one SQLite file, ${name}`,
        because: `${library.where} uses SQLite${literal === null ? '' : `, ${literal.where} names the file`}`,
      },
    ],
    doubts:
      lying === null
        ? []
        : [
            {
              what: `${lying} may be the data that it has kept until now`,
              remedy: `Stop the program and copy it to the state’s directory as ${name} before the first idunn up.`,
            },
          ],
  };
}

/** The last name of a path that can be one; a variable's default may be anything. */
const fileName = (path: string | null | undefined): string | null => {
  const name = basename(path ?? '');
  return /^[\w][\w.-]*\.(?:db|sqlite3?|sqlite)$/.test(name) ? name : null;
};
