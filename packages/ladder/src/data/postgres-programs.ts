import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

/** One database, as PostgreSQL's own programs reach it. */
export interface PostgresConnection {
  /** A host name, or the directory of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  /** A password file in PostgreSQL's own form. A password is never an argument, and never asked for. */
  readonly passwordFile?: string;
}

/** Where PostgreSQL's programs are, and how long each may take. */
export interface PostgresPrograms {
  readonly pgDump: string;
  readonly pgRestore: string;
  readonly psql: string;
  readonly deadlineMs: number;
}

export const POSTGRES_PROGRAMS: PostgresPrograms = {
  pgDump: '/usr/bin/pg_dump',
  pgRestore: '/usr/bin/pg_restore',
  psql: '/usr/bin/psql',
  deadlineMs: 6 * 3_600_000,
};

const OUTPUT_LIMIT_BYTES = 16 * 1024 * 1024;
const STDERR_LIMIT = 4_000;

/** What a program of PostgreSQL had to say when it did not succeed. */
export class PostgresError extends Error {}

/** The arguments that name a database. Throws `PostgresError` for a name that would be read as something else. */
function reaching({ host, port, user, database }: PostgresConnection): readonly string[] {
  if (!/^[A-Za-z0-9_][A-Za-z0-9_$-]*$/.test(database)) throw new PostgresError(`${database} is no plain database name`);
  return [`--host=${host}`, `--port=${port}`, `--username=${user}`, '--no-password', `--dbname=${database}`];
}

/** Nothing of our own environment reaches the programs but what they need. */
const environmentFor = ({ passwordFile }: PostgresConnection): NodeJS.ProcessEnv => ({
  PATH: '/usr/bin:/bin',
  LC_ALL: 'C.UTF-8',
  PGTZ: 'UTC',
  PGCONNECT_TIMEOUT: '10',
  PGAPPNAME: 'idunn-ladder',
  ...(passwordFile === undefined ? {} : { PGPASSFILE: passwordFile }),
});

/** Runs one program to its end. Throws `PostgresError` with the end of what it said. */
export async function runProgram(
  program: string,
  connection: PostgresConnection,
  argv: readonly string[],
  deadlineMs: number,
): Promise<void> {
  const options = { env: environmentFor(connection), timeout: deadlineMs, maxBuffer: OUTPUT_LIMIT_BYTES };
  await promisify(execFile)(program, [...reaching(connection), ...argv], options).catch((error: Failed) => {
    throw new PostgresError((error.stderr ?? '').trim().slice(-STDERR_LIMIT) || error.message);
  });
}

/** A text as SQL writes it. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

type Failed = Error & { readonly stderr?: string };

/**
 * One session of psql that statements are sent to one by one, so that a snapshot or a transaction lives between them.
 * The first statement that fails ends the session, and with it whatever was not committed.
 */
export class PsqlSession {
  readonly #child;
  readonly #lines: AsyncIterator<string>;
  readonly #ended: Promise<unknown>;
  #said = '';
  #asked = 0;

  constructor(connection: PostgresConnection, { psql, deadlineMs }: PostgresPrograms) {
    const argv = ['--no-psqlrc', '--no-align', '--tuples-only', '--set=ON_ERROR_STOP=1', '--set=VERBOSITY=terse'];
    this.#child = spawn(psql, [...reaching(connection), ...argv], {
      env: environmentFor(connection),
      timeout: deadlineMs,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
    this.#child.stdin.on('error', () => {});
    this.#child.stderr.on('data', (chunk: Buffer) => {
      this.#said = `${this.#said}${chunk.toString()}`.slice(-STDERR_LIMIT);
    });
    this.#ended = Promise.race([once(this.#child, 'close'), once(this.#child, 'error')]).catch((error: Error) => {
      this.#said ||= error.message;
    });
  }

  /** The lines that the statement answers, rows and command tags. Throws `PostgresError` when it fails. */
  ask(statement: string): Promise<readonly string[]> {
    return this.#sent(`${statement};`);
  }

  /** The same for whatever an operator wrote: read by the server, so that psql waits for no quote to close (F2). */
  perform(statements: string): Promise<readonly string[]> {
    return this.#sent(`SELECT ${literal(statements)} \\gexec`);
  }

  async #sent(words: string): Promise<readonly string[]> {
    const end = `idunn-end-${(this.#asked += 1)}`;
    this.#child.stdin.write(`${words}\n\\echo ${end}\n`);
    const answer: string[] = [];
    for (;;) {
      const next = await this.#lines.next();
      if (next.done === true) break;
      if (next.value === end) return answer;
      answer.push(next.value);
    }
    await this.#ended;
    throw new PostgresError(this.#said.trim() || 'psql ended');
  }

  async close(): Promise<void> {
    this.#child.stdin.end();
    await this.#ended;
  }
}

/** Works in one session and ends it, however the work ends. */
export async function inSession<T>(
  connection: PostgresConnection,
  programs: PostgresPrograms,
  work: (session: PsqlSession) => Promise<T>,
): Promise<T> {
  const session = new PsqlSession(connection, programs);
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}
