import { createServer, type Server, type Socket } from 'node:net';
import { readLines, writeLine } from '../edge/lines.ts';
import type { Machine } from '../edge/machine.ts';
import { IdunnError } from '../errors.ts';
import type { Envelope } from '../words/envelope.ts';
import type { JsonObject } from '../words/json.ts';
import type { OutgoingType } from './message.ts';
import { ChannelSession, type Commands, type SessionIdentity } from './session.ts';

/** Connections that may be open at once, proven or not. */
const CONNECTION_LIMIT = 8;
/** How long the other side may take to prove itself. */
const PROOF_LIMIT_MS = 5_000;

interface Line {
  readonly socket: Socket;
  readonly session: ChannelSession;
}

/** Listens on `channel.sock`. The newest connection that proved itself is the one that counts. */
export class ChannelServer {
  readonly #identity: Omit<SessionIdentity, 'counterChallenge'>;
  readonly #commands: Commands;
  readonly #machine: Machine;
  readonly #log: (line: string) => void;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #current: Line | null = null;
  #unsolicited = 0;

  constructor(
    identity: Omit<SessionIdentity, 'counterChallenge'>,
    commands: Commands,
    machine: Machine,
    log: (line: string) => void,
  ) {
    this.#identity = identity;
    this.#commands = commands;
    this.#machine = machine;
    this.#log = log;
    this.#server = createServer((socket) => {
      this.#accept(socket);
    });
    this.#server.maxConnections = CONNECTION_LIMIT;
  }

  /** Resolves when it listens. Rejects with `workload-already-running` when another process has the socket. */
  async listen(path: string): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#server.once('error', (cause: NodeJS.ErrnoException) => {
      const taken = cause.code === 'EADDRINUSE';
      reject(taken ? new IdunnError('workload-already-running', `${path} is taken`, { cause }) : cause);
    });
    this.#server.listen(path, resolve);
    await promise;
  }

  /** Whether a proven connection is open. */
  get open(): boolean {
    return this.#current !== null;
  }

  presence(presence: Envelope): void {
    if (this.#current !== null) writeLine(this.#current.socket, { type: 'presence', envelope: presence });
  }

  /** A message that answers nothing. */
  announce(type: OutgoingType, fields: JsonObject): void {
    this.#current?.session.send(type, fields, `${type}-${++this.#unsolicited}`);
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroySoon();
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    const identity = { ...this.#identity, counterChallenge: this.#machine.randomHex() };
    const commands: Commands = { ...this.#commands, welcomed: () => this.#welcome(line) };
    const session = new ChannelSession(identity, commands, (message) => writeLine(socket, message), this.#log);
    const line: Line = { socket, session };
    const forget = this.#machine.after(PROOF_LIMIT_MS, () => {
      if (!session.proven) socket.destroy();
    });
    socket.on('error', () => {}); // Its close follows.
    socket.on('close', () => {
      forget();
      this.#sockets.delete(socket);
      if (this.#current === line) this.#current = null; // A lost connection changes nothing else.
    });
    readLines(socket, (value) => session.receive(value), this.#log);
  }

  #welcome(line: Line): void {
    const older = this.#current;
    this.#current = line;
    older?.socket.destroySoon();
    this.#commands.welcomed();
  }
}
