import { EXCEPTIONS } from './exceptions.ts';
import type { Fault, Repository, SourceFile } from './repository.ts';
import { lineOf } from './scan.ts';

/** A pattern that must not appear. `where` says in which files it is looked for, `of` in which part of them. */
interface Ban {
  readonly rule: string;
  readonly where: 'product' | 'everywhere';
  readonly of: 'code' | 'comments';
  readonly pattern: RegExp;
  /** What to do instead. */
  readonly instead: string;
}

/** What of `node:fs` changes something, in all its forms; `open` only where a flag says so. */
const WRITERS = new Set(
  `appendFile chmod chown copyFile cp createWriteStream fchmod fchown ftruncate futimes lchmod lchown link lutimes mkdir
  mkdtemp promises rename rm rmdir symlink truncate unlink utimes write writeFile writev WriteStream`.split(/\s+/),
);

/** One pattern out of several. */
const anyOf = (...patterns: readonly RegExp[]): RegExp =>
  new RegExp(patterns.map(({ source }) => source).join('|'), 'g');

/** Every ban of the house. An adapter that implements a port is excepted by name, in `exceptions.ts`. */
export const BANS: readonly Ban[] = [
  {
    rule: 'wall-clock',
    where: 'product',
    of: 'code',
    pattern: /\bDate\s*\.\s*now\b|\bnew\s+Date\s*\(\s*\)|\bperformance\s*\.\s*now\b|\bhrtime\b/g,
    instead: 'take a Clock',
  },
  { rule: 'random', where: 'product', of: 'code', pattern: /\bMath\s*\.\s*random\b/g, instead: 'take Ids' },
  {
    rule: 'timers',
    where: 'product',
    of: 'code',
    // A socket's own setTimeout is the kernel's patience with a peer, not a timer of ours.
    pattern: anyOf(
      /(?<!\.\s*)\b(?:setTimeout|setInterval)\b/,
      /\b(?:globalThis|global|timers)\s*\.\s*(?:setTimeout|setInterval)\b/,
    ),
    instead: 'take Timers',
  },
  {
    rule: 'environment',
    where: 'product',
    of: 'code',
    pattern: /\bprocess\s*\.\s*env\b/g,
    instead: 'take what is needed as a parameter',
  },
  {
    rule: 'shell',
    where: 'everywhere',
    of: 'code',
    pattern: anyOf(
      /\bshell\s*:\s*true\b/,
      /\bexecSync\b/,
      /\bimport\s*\{[^}]*\bexec\b[^}]*\}/,
      /\bchild_?[pP]rocess\s*\.\s*exec\b/,
    ),
    instead: 'start programs by argv with execFile or spawn',
  },
  {
    rule: 'recursive-delete',
    where: 'product',
    of: 'code',
    pattern: /\b(?:rm|rmSync|rmdir|rmdirSync)\s*\([^;]{0,300}?\brecursive\b/g,
    instead: 'remove what is known by name',
  },
  {
    rule: 'any',
    where: 'everywhere',
    of: 'code',
    pattern: /(?:[:<,|&(=]|\bas|\bextends)\s*any\b(?=\s*(?:[;,)>\]|&={[]|$))/gm,
    instead: 'name the type, or take unknown',
  },
  {
    rule: 'silenced-check',
    where: 'everywhere',
    of: 'comments',
    pattern: /@ts-(?:ignore|expect-error|nocheck)|(?:oxlint|eslint)-disable|biome-ignore/g,
    instead: 'mend what the check found',
  },
  {
    rule: 'half-test',
    where: 'everywhere',
    of: 'code',
    pattern: anyOf(
      /\b(?:test|it|describe|suite)\s*\.\s*(?:only|skip|todo)\b/,
      /\b(?:skip|todo|only)\s*:\s*(?:true\b|['"`])/,
      /\bt\.(?:skip|todo)\(/,
    ),
    instead: 'run every test whole',
  },
  {
    rule: 'unfinished',
    where: 'everywhere',
    of: 'comments',
    pattern: /\b(?:TODO|FIXME|XXX|HACK)\b/g,
    instead: 'do it, or leave it out',
  },
];

export const MAX_LINE_LENGTH = 120;
/** One literal on a line of its own, such as a remedy of the catalogue: a sentence is not broken up. */
const ONE_SENTENCE = /^\s*(?:[\w'-]+:\s*)?(['"])(?:(?!\1)[^\\]|\\.)*\1,?$/;
export const MAX_FILE_LINES = 600;
export const MAX_TEST_LINES = 800;

/** Every place where a file does what the house bans, and every exception that excepts nothing. */
export function tidyFaults(repository: Repository, exceptions = EXCEPTIONS): readonly Fault[] {
  const found = [...repository.files.values()].flatMap((file) => faultsOf(file));
  const excepted = (fault: Fault & { readonly path: string }): boolean =>
    exceptions.some(({ path, rule }) => rule === fault.rule && path === fault.path);
  const stale = exceptions
    .filter(({ path, rule }) => !found.some((fault) => fault.path === path && fault.rule === rule))
    .map(({ path, rule }) => ({ rule: 'exception', where: path, what: `does nothing that ${rule} bans` }));
  return [...found.filter((fault) => !excepted(fault)), ...stale];
}

type Found = Fault & { readonly path: string };

function faultsOf(file: SourceFile): readonly Found[] {
  const found = (rule: string, line: number, what: string): Found => ({
    rule,
    path: file.path,
    where: `${file.path}:${line}`,
    what,
  });
  const lines = file.text.split('\n');
  const most = file.role === 'product' || file.role === 'script' ? MAX_FILE_LINES : MAX_TEST_LINES;
  return [
    ...BANS.filter(({ where }) => where === 'everywhere' || file.role === 'product').flatMap((ban) =>
      [...file[ban.of].matchAll(ban.pattern)].map(({ index }) =>
        found(ban.rule, lineOf(file.text, index), ban.instead),
      ),
    ),
    ...(file.role === 'product'
      ? writesOf(file).map(({ at, what }) => found('write', lineOf(file.text, at), what))
      : []),
    ...lines.flatMap((line, index) =>
      line.length > MAX_LINE_LENGTH && !ONE_SENTENCE.test(line)
        ? [found('line-length', index + 1, `${line.length} characters`)]
        : [],
    ),
    ...(lines.length - 1 > most ? [found('file-length', most, `${lines.length - 1} lines, at most ${most}`)] : []),
  ];
}

/** Imports of what writes to a file system. A file that only reads takes its functions by name. */
function writesOf(file: SourceFile): readonly { readonly at: number; readonly what: string }[] {
  return file.imports
    .filter(({ specifier }) => /^(?:node:)?fs(?:\/promises)?$/.test(specifier))
    .flatMap(({ at, clause, how }) => {
      if (/^type\b/.test(clause)) return [];
      const names = /\{([^}]*)\}/.exec(clause)?.[1];
      if (names === undefined || how !== 'static') return [{ at, what: 'name what is taken from node:fs' }];
      return names
        .split(',')
        .map((name) => name.trim().split(/\s+as\s+/)[0] ?? '')
        .map((name) => name.replace(/Sync$/, ''))
        .filter((name) => WRITERS.has(name) || (name === 'open' && opensForWriting(file)))
        .map((name) => ({ at, what: `${name}: write through an adapter` }));
    });
}

/** An `open` is a write when the file names a flag for it. */
const opensForWriting = ({ code, literals }: SourceFile): boolean =>
  /\bO_(?:WRONLY|RDWR|CREAT|APPEND|TRUNC)\b/.test(code) ||
  literals.some(({ text }) => /^(?:r\+|rs\+|[wa](?:x|s)?\+?|as)$/.test(text));
