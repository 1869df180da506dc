import type { Socket } from 'node:net';

/** The longest line of the protocol, in bytes, its newline not counted. */
export const LINE_LIMIT_BYTES = 262_144;
/** What may wait to be sent to a peer that does not read; beyond it the connection is given up. */
const OUTBOX_LIMIT_BYTES = 1_048_576;

const NEWLINE = 0x0a;

/**
 * Cuts a byte stream into lines of JSON. `null` for a line that is too long or no JSON: the stream cannot be trusted
 * again.
 */
export class LineReader {
  #rest: Buffer = Buffer.alloc(0);

  push(chunk: Buffer): readonly unknown[] | null {
    const values: unknown[] = [];
    let from = 0;
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, from)) {
      if (end - from > LINE_LIMIT_BYTES) return null;
      try {
        values.push(JSON.parse(bytes.toString('utf8', from, end)));
      } catch {
        return null;
      }
      from = end + 1;
    }
    this.#rest = bytes.subarray(from);
    return this.#rest.length > LINE_LIMIT_BYTES ? null : values;
  }
}

/** Calls `receive` with each message of a socket, in order; a broken stream ends the connection. */
export function readLines(socket: Socket, receive: (value: unknown) => void, log: (line: string) => void): void {
  const reader = new LineReader();
  socket.on('data', (chunk) => {
    const values = reader.push(chunk as Buffer);
    for (const value of values ?? []) receive(value);
    if (values !== null) return;
    log(`ended a connection: a line is no JSON or longer than ${LINE_LIMIT_BYTES} bytes`);
    socket.destroy();
  });
}

/** Sends one message; a peer that does not read is given up, because the newest word makes older ones worthless. */
export function writeLine(socket: Socket, value: unknown): void {
  if (socket.destroyed || !socket.writable) return;
  socket.write(`${JSON.stringify(value)}\n`);
  if (socket.writableLength > OUTBOX_LIMIT_BYTES) socket.destroy();
}
