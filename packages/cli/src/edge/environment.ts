import { randomBytes } from 'node:crypto';
import { homedir, userInfo } from 'node:os';
import { createInterface } from 'node:readline/promises';

/** Where text goes, and what that place can show. */
export interface Sink {
  write(text: string): void;
  readonly terminal: boolean;
  readonly columns: number;
}

/** Everything that the command touches besides files and the daemon. Tests bring their own. */
export interface Environment {
  /** The words after the program's name. */
  readonly argv: readonly string[];
  readonly directory: string;
  readonly home: string;
  /** Who runs the command. */
  readonly user: { readonly name: string; readonly uid: number };
  /** Whether we run as root, which has default directories of its own. */
  readonly root: boolean;
  variable(name: string): string | undefined;
  readonly out: Sink;
  readonly err: Sink;
  nowMs(): number;
  /** Calls `fire` again and again until the returned function is called. */
  every(intervalMs: number, fire: () => void): () => void;
  /** Calls `fire` once after `delayMs` unless the returned function is called first. */
  after(delayMs: number, fire: () => void): () => void;
  /** Calls `fire` when the person interrupts (Ctrl-C) or the program is asked to end. */
  onInterrupt(fire: () => void): () => void;
  /** Ends the program as an interrupt does that nobody listens to. */
  endInterrupted(): void;
  /** An id that nobody has used; later ones are greater as text, which keeps the newest receipts. */
  freshId(prefix: string): string;
  /** Asks a person; `null` when there is nobody to ask. */
  ask(question: string): Promise<string | null>;
}

const sinkOf = (stream: NodeJS.WriteStream): Sink => ({
  write: (text) => void stream.write(text),
  get terminal() {
    return stream.isTTY;
  },
  get columns() {
    return stream.columns ?? 120;
  },
});

/** A uid without an account still has its number. */
function whoRuns(): Environment['user'] {
  const uid = process.geteuid?.() ?? -1;
  try {
    return { name: userInfo().username, uid };
  } catch {
    return { name: `uid ${uid}`, uid };
  }
}

/** The process that we really are. */
export function processEnvironment(): Environment {
  // A reader that went away (`idunn history | head`) ends the command without a stack trace.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
  return {
    argv: process.argv.slice(2),
    directory: process.cwd(),
    home: homedir(),
    user: whoRuns(),
    root: process.geteuid?.() === 0,
    variable: (name) => process.env[name],
    out: sinkOf(process.stdout),
    err: sinkOf(process.stderr),
    nowMs: () => Date.now(),
    every: (intervalMs, fire) => {
      const timer = setInterval(fire, intervalMs);
      return () => clearInterval(timer);
    },
    after: (delayMs, fire) => {
      const timer = setTimeout(fire, delayMs);
      return () => clearTimeout(timer);
    },
    onInterrupt: (fire) => {
      process.on('SIGINT', fire);
      process.on('SIGTERM', fire);
      return () => {
        process.off('SIGINT', fire);
        process.off('SIGTERM', fire);
      };
    },
    endInterrupted: () => process.exit(130),
    freshId: (prefix) => `${prefix}-${Date.now().toString(16).padStart(12, '0')}-${randomBytes(16).toString('hex')}`,
    ask: async (question) => {
      if (!process.stdin.isTTY) return null;
      const reader = createInterface({ input: process.stdin, output: process.stderr });
      try {
        return await reader.question(question);
      } catch (error) {
        // Ctrl-C at the question is an answer too: none.
        if (error instanceof Error && error.name === 'AbortError') return null;
        throw error;
      } finally {
        reader.close();
      }
    },
  };
}
