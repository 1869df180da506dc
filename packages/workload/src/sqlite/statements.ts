/**
 * Which statements may run inside a transaction that the SDK owns. SQLite runs a text statement by statement, so a
 * COMMIT in its middle would let the rest write outside the guarded transaction before any check could see it (I1). The
 * tokens follow SQLite's tokenizer; where the two could differ, the text is refused.
 */

const SQL_LIMIT_CHARS = 1_000_000;

const READING = ['SELECT', 'VALUES', 'WITH', 'EXPLAIN', 'PRAGMA'];
const CHANGING = ['INSERT', 'REPLACE', 'UPDATE', 'DELETE', 'CREATE', 'ALTER', 'DROP', 'REINDEX', 'ANALYZE'];
const ALLOWED = { read: new Set(READING), write: new Set(READING.concat(CHANGING)) };

/** Settings that cannot change what a connection is, or how it locks. */
const PRAGMAS = new Set(
  ['application_id', 'data_version', 'foreign_key_check', 'foreign_key_list', 'freelist_count', 'function_list'].concat(
    ['index_info', 'index_list', 'index_xinfo', 'integrity_check', 'optimize', 'page_count', 'quick_check'],
    ['table_info', 'table_list', 'table_xinfo', 'user_version'],
  ),
);

/** The authority's tables; the program neither reads nor writes them. */
const RESERVED = new Set(['idunn_lease', 'idunn_nonce']);

/** SQLite's tokens, as far as they can hide or show the end of a statement. */
const TOKEN = new RegExp(
  [
    /(?<space>[ \t\n\v\f\r\uFEFF]+|--[^\n]*|\/\*[^]*?(?:\*\/|$))/,
    /(?<quoted>'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\])/,
    /(?<word>[A-Za-z_\u0080-\uFFFF][\w$\u0080-\uFFFF]*)/,
    /(?<variable>[$@:#][\w$:\u0080-\uFFFF]+)/,
    /(?<other>[^])/,
  ]
    .map((pattern) => pattern.source)
    .join('|'),
  'y',
);

type Token = { readonly kind: 'word' | 'quoted' | 'variable' | 'other'; readonly text: string };

/**
 * Why `sql` may not run, or `null` when it may. `mode` is what surrounds it; `one` demands a single statement, as a
 * prepared statement is.
 */
export function refuseStatements(sql: string, mode: 'read' | 'write', one: boolean): string | null {
  if (sql.length > SQL_LIMIT_CHARS) return `a text of more than ${SQL_LIMIT_CHARS} characters; bind data as parameters`;
  if (sql.includes('\0')) return 'the text holds a NUL character, at which SQLite stops reading';
  const tokens = tokenize(sql);
  if (typeof tokens === 'string') return tokens;
  const statements = splitStatements(tokens);
  if (one && statements.length !== 1) return `${statements.length} statements where one is prepared`;
  for (const statement of statements) {
    const reason = refuseStatement(statement, ALLOWED[mode]);
    if (reason !== null) return reason;
  }
  return null;
}

function tokenize(sql: string): readonly Token[] | string {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < sql.length) {
    const { space, quoted, word, variable, other } = TOKEN.exec(sql)?.groups ?? {};
    if (space !== undefined) continue;
    // SQLite reads `$name(…)` as one parameter, quotes and semicolons included: a place to hide a COMMIT.
    if (variable !== undefined && sql[TOKEN.lastIndex] === '(') return `a parameter of the form ${variable}(…)`;
    if (quoted !== undefined) tokens.push({ kind: 'quoted', text: quoted.slice(1, -1) });
    else if (word !== undefined) tokens.push({ kind: 'word', text: word });
    else if (variable !== undefined) tokens.push({ kind: 'variable', text: variable });
    else tokens.push({ kind: 'other', text: other ?? '' });
  }
  return tokens;
}

/** A trigger's body holds semicolons of its own; it ends with `; END ;`, as in SQLite's own sqlite3_complete. */
function splitStatements(tokens: readonly Token[]): readonly (readonly Token[])[] {
  const statements: Token[][] = [];
  let current: Token[] = [];
  for (const token of tokens) {
    const ends = isSemicolon(token) && (!isTrigger(current) || endsTrigger(current));
    if (!ends) current.push(token);
    else if (current.length > 0) {
      statements.push(current);
      current = [];
    }
  }
  if (current.length > 0) statements.push(current);
  return statements;
}

const isSemicolon = (token: Token | undefined): boolean => token?.kind === 'other' && token.text === ';';
const keyword = (token: Token | undefined): string => (token?.kind === 'word' ? token.text.toUpperCase() : '');

function isTrigger(statement: readonly Token[]): boolean {
  const words = statement.slice(0, 6).map(keyword);
  while (words[0] === 'EXPLAIN' || words[0] === 'QUERY' || words[0] === 'PLAN') words.shift();
  if (words[1] === 'TEMP' || words[1] === 'TEMPORARY') words.splice(1, 1);
  return words[0] === 'CREATE' && words[1] === 'TRIGGER';
}

const endsTrigger = (statement: readonly Token[]): boolean =>
  keyword(statement.at(-1)) === 'END' && isSemicolon(statement.at(-2));

function refuseStatement(statement: readonly Token[], allowed: ReadonlySet<string>): string | null {
  const first = keyword(statement[0]);
  if (!allowed.has(first)) return `${statement[0]?.text ?? 'an empty statement'} is not for a program to run here`;
  if (first === 'PRAGMA' && !PRAGMAS.has(pragmaName(statement))) return `PRAGMA ${pragmaName(statement)} is the SDK's`;
  const reserved = statement.find((token) => RESERVED.has(token.text.toLowerCase()));
  return reserved === undefined ? null : `${reserved.text} belongs to Idunn`;
}

/** `PRAGMA name` or `PRAGMA schema.name`; a quoted name is no name that is allowed. */
function pragmaName(statement: readonly Token[]): string {
  const name = statement[2]?.text === '.' ? statement[3] : statement[1];
  return name?.kind === 'word' ? name.text.toLowerCase() : `"${name?.text ?? ''}"`;
}
