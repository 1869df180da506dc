import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { PassThrough, Readable, type Writable } from 'node:stream';
import { GIT_ENVIRONMENT, gitArguments } from './command.ts';
import { type Opening, openingWords, type Way } from './opening.ts';
import type { Reader } from './reader.ts';

/** Standard error is kept for people; more than this is cut. */
const STDERR_LIMIT_BYTES = 16_384;

export interface GitCall {
  readonly directory: string | null;
  readonly transport?: 'https' | 'file';
  /** To the origin; left out where git reads an object cache alone. */
  readonly way?: Way;
  readonly words: readonly string[];
  /** Lines for standard input. */
  readonly input?: Iterable<string> | AsyncIterable<string>;
  readonly signal: AbortSignal;
}

export interface GitAnswer {
  /** `null` when git was killed or could not be started. */
  readonly exit: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export class GitOutputTooLarge extends Error {
  constructor(words: readonly string[], limitBytes: number) {
    super(`git ${words[0]} wrote more than ${limitBytes} bytes`);
    this.name = 'GitOutputTooLarge';
  }
}

export interface GitProgram {
  /** Absolute. */
  readonly program: string;
  /** A PEM file that https origins are trusted by in place of the system's. */
  readonly certificates: string | null;
  readonly reader: Reader;
  /** Absolute path of `bwrap`; `null` where it is not installed. */
  readonly bubblewrap: string | null;
  /** The way to the object caches, where the reader does not get there by itself. */
  readonly opening: Opening | null;
  /** The configuration that git has for a trusted origin. */
  readonly trusting: string;
}

/** Runs git by argv and hands its output over as it comes. An abort kills the whole process group. */
export class Git {
  readonly #program: GitProgram;
  constructor(program: GitProgram) {
    this.#program = program;
  }

  get reader(): Reader {
    return this.#program.reader;
  }

  /** Whether a way that is closed to the reader could be opened. */
  get opens(): boolean {
    return this.#program.bubblewrap !== null;
  }

  /** The same one, with nothing opened to it. */
  get alone(): Git {
    return new Git({ ...this.#program, opening: null });
  }

  /** Runs to the end and keeps the output, up to the limit. */
  async run(call: GitCall, limitBytes: number): Promise<GitAnswer> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const { exit, stderr } = await this.stream(call, async (stdout) => {
      for await (const chunk of stdout) {
        bytes += chunk.length;
        if (bytes > limitBytes) throw new GitOutputTooLarge(call.words, limitBytes);
        chunks.push(chunk);
      }
    });
    return { exit, stdout: Buffer.concat(chunks), stderr };
  }

  /** Runs `read` over the output; when it throws, git is killed and the error comes out here. */
  async stream(
    call: GitCall,
    read: (stdout: AsyncIterable<Buffer>) => Promise<void>,
  ): Promise<Omit<GitAnswer, 'stdout'>> {
    const child = this.#start(call);
    const kill = (): void => {
      // Only while git itself has not been reaped does its number surely name its group (F12).
      if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) killGroup(child.pid);
    };
    // Taken up at once: when a child ends before anybody reads, Node lets its unread output flow away.
    const stdout = child.stdout.pipe(new PassThrough());
    const ended = new Promise<number | null>((resolve) => {
      child.once('close', resolve);
      child.once('error', () => resolve(null));
    });
    let stderr = '';
    child.on('error', (error) => {
      stderr += error.message;
    });
    child.stderr.on('data', (chunk: Buffer) => {
      if (stderr.length < STDERR_LIMIT_BYTES) stderr += chunk.toString('utf8');
    });
    call.signal.addEventListener('abort', kill, { once: true });
    if (call.signal.aborted) kill();
    try {
      await read(stdout as AsyncIterable<Buffer>);
    } catch (error) {
      kill();
      if (!call.signal.aborted) throw error;
    } finally {
      // Whatever the reader left unread must not keep git, or the wait for it, alive.
      child.stdout.destroy();
      await ended;
      call.signal.removeEventListener('abort', kill);
    }
    return { exit: await ended, stderr: stderr.trim() };
  }

  #start({ directory, transport, way, words, input }: GitCall): ChildProcessByStdio<Writable, Readable, Readable> {
    const { program, certificates, trusting } = this.#program;
    const called = [program, ...gitArguments(directory, transport ?? null, certificates), ...words];
    const { argv, as } = this.#asReader(called, way);
    const child = spawn(argv[0] ?? program, argv.slice(1), {
      cwd: '/',
      env: way?.trusted === true ? { ...GIT_ENVIRONMENT, GIT_CONFIG_GLOBAL: trusting } : GIT_ENVIRONMENT,
      ...as,
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    // A git that ends early closes its input; its exit status says why.
    child.stdin.on('error', () => undefined);
    Readable.from(input ?? []).pipe(child.stdin);
    return child;
  }

  #asReader(called: readonly string[], way: Way | undefined): { argv: readonly string[]; as: SpawnAs } {
    const { bubblewrap, reader } = this.#program;
    if (reader.account === null) return { argv: called, as: {} };
    const openings = [this.#program.opening, way?.opening ?? null].filter((opening) => opening !== null);
    if (bubblewrap !== null && openings.length > 0) {
      return { argv: [...openingWords(bubblewrap, openings, reader.account), ...called], as: {} };
    }
    const { uid, gid } = reader.account;
    // Node gives up every further group of root's with these.
    return { argv: called, as: { uid, gid } };
  }
}

type SpawnAs = { readonly uid?: number; readonly gid?: number };

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
