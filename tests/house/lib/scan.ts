/** A string literal and where its opening quote stands. */
export interface Literal {
  readonly at: number;
  readonly text: string;
}

/** A source text taken apart without a parser: good enough to tell code from what only looks like it. */
export interface Scanned {
  /** The text with comments and the contents of strings, templates and regular expressions blanked, same length. */
  readonly code: string;
  /** The text with everything but comments blanked, same length. */
  readonly comments: string;
  readonly literals: readonly Literal[];
}

const blank = (text: string): string => text.replace(/[^\n]/g, ' ');

/** After one of these a slash begins a regular expression; after a value it divides. */
const BEFORE_EXPRESSION = /(?:^|[(,=:[!&|?{};+\-*%<>~^]|\b(?:return|typeof|case|in|of|do|else|void|delete|throw|new))$/;

/** One piece of source that is not plain code, tried at every position in this order. */
const PIECES: readonly { readonly kind: 'comment' | 'string' | 'regex'; readonly pattern: RegExp }[] = [
  { kind: 'comment', pattern: /\/\/[^\n]*|\/\*[^]*?\*\//y },
  { kind: 'string', pattern: /'(?:\\[^]|[^'\\\n])*'|"(?:\\[^]|[^"\\\n])*"/y },
  { kind: 'regex', pattern: /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/y },
];

export function scan(source: string): Scanned {
  const code: string[] = [];
  const comments: string[] = [];
  const literals: Literal[] = [];
  /** For each template that is open: how many braces of its expression are. */
  const templates: number[] = [];
  let at = 0;
  let before = '';

  const take = (length: number, asCode: string, asComment = blank(source.slice(at, at + length))): void => {
    code.push(asCode);
    comments.push(asComment);
    if (asCode.trim() !== '') before = (before + asCode).trimEnd().slice(-12);
    at += length;
  };
  const templateText = (): void => {
    const text = /(?:\\[^]|\$(?!\{)|[^`\\$])*/y;
    text.lastIndex = at;
    const raw = text.exec(source)?.[0] ?? '';
    take(raw.length, blank(raw));
    if (source.startsWith('${', at)) {
      templates.push(0);
      take(2, '${');
    } else {
      take(1, '`');
    }
  };

  while (at < source.length) {
    const piece = pieceAt(source, at, before);
    const character = source.charAt(at);
    const depth = templates.at(-1);
    if (piece?.kind === 'comment') {
      take(piece.text.length, blank(piece.text), piece.text);
    } else if (piece?.kind === 'string') {
      literals.push({ at, text: piece.text.slice(1, -1) });
      take(piece.text.length, `${character}${blank(piece.text.slice(1, -1))}${character}`);
    } else if (piece?.kind === 'regex') {
      take(piece.text.length, `0${blank(piece.text.slice(1))}`);
    } else if (character === '`') {
      take(1, '`');
      templateText();
    } else if (character === '}' && depth === 0) {
      templates.pop();
      take(1, '}');
      templateText();
    } else {
      if (depth !== undefined && character === '{') templates[templates.length - 1] = depth + 1;
      if (depth !== undefined && character === '}') templates[templates.length - 1] = depth - 1;
      take(1, character);
    }
  }
  return { code: code.join(''), comments: comments.join(''), literals };
}

function pieceAt(source: string, at: number, before: string) {
  for (const { kind, pattern } of PIECES) {
    if (kind === 'regex' && !BEFORE_EXPRESSION.test(before)) continue;
    pattern.lastIndex = at;
    const text = pattern.exec(source)?.[0];
    if (text !== undefined) return { kind, text };
  }
  return null;
}

/** The line, from 1, of a position. */
export const lineOf = (source: string, at: number): number => source.slice(0, at).split('\n').length;

/** One module named by another, and how. */
export interface Import {
  readonly specifier: string;
  readonly at: number;
  /** Everything between `import` or `export` and `from`, e.g. `{ a, type B }`; empty for a bare or dynamic import. */
  readonly clause: string;
  /** `resolve` names a module without running it here: a program that is started. */
  readonly how: 'static' | 'dynamic' | 'resolve';
}

const IMPORT =
  /(?:\b(?:import|export)\b([^;'"()]*?)\bfrom\s*|\bimport\s*(\(?)\s*|\bimport\.meta\.resolve(\()\s*)(?=['"])/g;

/** Every module that a source names in an import, export-from or dynamic import with a literal. */
export function importsOf({ code, literals }: Scanned): readonly Import[] {
  const byPosition = new Map(literals.map((literal) => [literal.at, literal.text]));
  return [...code.matchAll(IMPORT)].flatMap((match) => {
    const specifier = byPosition.get(match.index + match[0].length);
    const how = match[3] === '(' ? 'resolve' : match[2] === '(' ? 'dynamic' : 'static';
    return specifier === undefined ? [] : [{ specifier, at: match.index, clause: (match[1] ?? '').trim(), how }];
  });
}
