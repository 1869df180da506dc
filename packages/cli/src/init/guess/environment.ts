import { type Facts, placeOf, sources } from '../facts.ts';

/** A variable that the program reads, where, and the text that stands in for it when it is not set. */
export interface ReadVariable {
  readonly name: string;
  readonly where: string;
  readonly fallback: string | null;
}

const NAME = '([A-Za-z_][A-Za-z0-9_]*)';
const FALLBACK = `(?:\\s*(?:\\?\\?|\\|\\|)\\s*["'\`]([^"'\`\\n]*)["'\`])?`;
const READS: readonly RegExp[] = [
  new RegExp(`\\bprocess\\.env\\.${NAME}${FALLBACK}`, 'g'),
  new RegExp(`\\bprocess\\.env\\[["']${NAME}["']\\]${FALLBACK}`, 'g'),
  new RegExp(`\\bos\\.environ\\[["']${NAME}["']\\]`, 'g'),
  new RegExp(
    `\\b(?:os\\.environ\\.get|os\\.getenv|environ\\.get|getenv)\\(\\s*["']${NAME}["'](?:\\s*,\\s*["']([^"'\\n]*)["'])?`,
    'g',
  ),
  new RegExp(`\\bos\\.(?:Getenv|LookupEnv)\\("${NAME}"\\)`, 'g'),
];
/** `const { PORT, DATABASE_PATH = 'x' } = process.env` */
const TAKEN_APART = /\{([^{}]*)\}\s*=\s*process\.env\b/g;

/** Every environment variable that the sources read, each once, where it is read first. */
export function readVariables(facts: Facts): readonly ReadVariable[] {
  const found = new Map<string, ReadVariable>();
  const add = (name: string, where: string, fallback: string | null): void => {
    const known = found.get(name);
    if (known === undefined) found.set(name, { name, where, fallback });
    else if (known.fallback === null && fallback !== null) found.set(name, { ...known, fallback });
  };
  for (const { path, text } of sources(facts)) {
    for (const pattern of READS) {
      for (const match of text.matchAll(pattern))
        add(match[1] ?? '', placeOf(path, text, match.index), match[2] ?? null);
    }
    for (const match of text.matchAll(TAKEN_APART)) {
      for (const part of (match[1] ?? '').split(',')) {
        const [, name, fallback] =
          /^\s*([A-Za-z_]\w*)(?:\s*:\s*\w+)?(?:\s*=\s*["'`]?([^"'`]*)["'`]?)?\s*$/.exec(part) ?? [];
        if (name !== undefined) add(name, placeOf(path, text, match.index), fallback ?? null);
      }
    }
  }
  return [...found.values()].filter(({ name }) => !name.startsWith('IDUNN_'));
}

/** What a variable is for, by its name. */
export type Purpose = 'port' | 'host' | 'state-path' | 'state-root' | 'state-url' | 'secret' | 'known' | 'other';

export function purposeOf(name: string): Purpose {
  const upper = name.toUpperCase();
  if (/^(?:[A-Z]+_)*PORT$/.test(upper)) return 'port';
  if (/^(?:(?:[A-Z]+_)*HOST|BIND(?:_ADDRESS)?|LISTEN_ADDRESS)$/.test(upper)) return 'host';
  if (/(?:^|_)(?:DATABASE|DB|SQLITE)_URL$/.test(upper)) return 'state-url';
  if (/(?:^|_)(?:DATABASE|DB|SQLITE)(?:_?(?:PATH|FILE|FILENAME|NAME))?$/.test(upper)) return 'state-path';
  if (/(?:^|_)(?:DATA|STATE|STORAGE|UPLOADS?)_?(?:DIR|DIRECTORY|PATH|ROOT)$/.test(upper)) return 'state-root';
  if (/SECRET|TOKEN|PASSWORD|PASSWD|API_?KEY|PRIVATE_?KEY|CREDENTIAL/.test(upper)) return 'secret';
  return KNOWN.has(upper) ? 'known' : 'other';
}

/** Variables that come with a value of ours, or that a program may do without. */
const KNOWN: ReadonlySet<string> = new Set([
  'NODE_ENV',
  'NODE_OPTIONS',
  'PYTHONPATH',
  'PYTHONUNBUFFERED',
  'PATH',
  'HOME',
  'USER',
  'TZ',
  'LANG',
  'CI',
  'NO_COLOR',
  'TMPDIR',
]);
