import { connect, type Socket } from 'node:net';
import { readLines, writeLine } from '../edge/lines.ts';
import type { Machine } from '../edge/machine.ts';
import type { Envelope } from '../words/envelope.ts';

const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 5_000;

/** The connection to the observer's socket: reconnects for ever, with a wait that doubles. */
export class ObserverLink {
  readonly #path: string;
  readonly #machine: Machine;
  readonly #connected: () => void;
  readonly #log: (line: string) => void;
  #socket: Socket | null = null;
  #open = false;
  #waitMs = FIRST_WAIT_MS;
  #stopTimer = (): void => {};
  #stopped = false;
  #lastRefusal = '';

  /** `connected` is called each time that the observer can be spoken to anew. */
  constructor(path: string, machine: Machine, connected: () => void, log: (line: string) => void) {
    this.#path = path;
    this.#machine = machine;
    this.#connected = connected;
    this.#log = log;
  }

  start(): void {
    const socket = connect(this.#path);
    this.#socket = socket;
    socket.unref();
    socket.on('connect', () => {
      this.#waitMs = FIRST_WAIT_MS;
      this.#open = true;
      this.#connected();
    });
    socket.on('error', () => {}); // Its close follows; not being reachable is the observer's news, not ours.
    socket.on('close', () => {
      this.#open = false;
      this.#again();
    });
    readLines(socket, (value) => this.#hear(value), this.#log);
  }

  send(presence: Envelope): void {
    if (this.#open && this.#socket !== null) writeLine(this.#socket, { type: 'presence', envelope: presence });
  }

  stop(): void {
    this.#stopped = true;
    this.#stopTimer();
    this.#socket?.destroySoon();
  }

  #again(): void {
    if (this.#stopped) return;
    this.#stopTimer = this.#machine.after(this.#waitMs, () => {
      this.start();
    });
    this.#waitMs = Math.min(this.#waitMs * 2, LONGEST_WAIT_MS);
  }

  /** Answers are hints for the log: each new refusal once. */
  #hear(value: unknown): void {
    const { type, code, reason } = (value ?? {}) as { type?: unknown; code?: unknown; reason?: unknown };
    const refusal = type === 'presence-refused' ? `${String(code)}: ${String(reason)}` : '';
    if (refusal !== '' && refusal !== this.#lastRefusal) this.#log(`the observer refused a presence: ${refusal}`);
    this.#lastRefusal = refusal;
  }
}
