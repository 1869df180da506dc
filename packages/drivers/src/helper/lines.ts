import type { Socket } from 'node:net';

/** The longest line of a control connection, and what may wait for a peer that does not read. */
const LINE_LIMIT_BYTES = 1_048_576;

/** Calls `take` with each line of JSON; a line that is none, or too long, ends the connection. */
export function readLines(socket: Socket, take: (message: unknown) => void): void {
  let rest = '';
  socket.setEncoding('utf8');
  socket.on('data', (text: string) => {
    rest += text;
    for (let end = rest.indexOf('\n'); end !== -1; end = rest.indexOf('\n')) {
      const line = rest.slice(0, end);
      rest = rest.slice(end + 1);
      let message: unknown;
      try {
        message = JSON.parse(line);
      } catch {
        socket.destroy();
        return;
      }
      take(message);
    }
    if (rest.length > LINE_LIMIT_BYTES) socket.destroy();
  });
}

export function writeLine(socket: Socket, message: object): void {
  // A peer that does not read is cut off, rather than queued for without limit.
  if (socket.writableLength > LINE_LIMIT_BYTES) socket.destroy();
  else if (socket.writable) socket.write(`${JSON.stringify(message)}\n`);
}
