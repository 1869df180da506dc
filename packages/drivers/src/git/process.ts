import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { PassThrough, Readable, type Writable } from 'node:stream';
import { GIT_ENVIRONMENT, gitArguments } from './command.ts';
import type { Reader } from './reader.ts';

/** Standard error is kept for people; more than this is cut. */
const STDERR_LIMIT_BYTES = 16_384;

export interface GitCall {
  readonly directory: string | null;
  readonly transport?: 'https' | 'file';
  /** The local origin's owner was checked. */
  readonly trusted?: boolean;
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

  #start({ directory, transport, trusted, words, input }: GitCall): ChildProcessByStdio<Writable, Readable, Readable> {
    const { program, certificates, reader, trusting } = this.#program;
    const child = spawn(program, [...gitArguments(directory, transport ?? null, certificates), ...words], {
      cwd: '/',
      env: trusted === true ? { ...GIT_ENVIRONMENT, GIT_CONFIG_GLOBAL: trusting } : GIT_ENVIRONMENT,
      // Node gives up every further group of root's with these.
      ...(reader.account === null ? {} : { uid: reader.account.uid, gid: reader.account.gid }),
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    // A git that ends early closes its input; its exit status says why.
    child.stdin.on('error', () => undefined);
    Readable.from(input ?? []).pipe(child.stdin);
    return child;
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
