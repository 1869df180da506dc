import { connect } from 'node:net';

/** Longest rehearsal. */
const LIMIT_MS = 1_000;
/** After so many of a kind the code that answers it has been compiled. */
const ROUNDS = 4;
const READ = 'GET /head HTTP/1.1\r\nHost: ghostlight\r\n\r\n';
/** An empty draft is refused, so nothing is kept. */
const WRITE = 'POST /events HTTP/1.1\r\nHost: ghostlight\r\nContent-Length: 2\r\n\r\n{}';
const LAST = 'GET /head HTTP/1.1\r\nHost: ghostlight\r\nConnection: close\r\n\r\n';

/**
 * Asks the world's own server before anybody else does, so that the first client after a handover meets code that has
 * run before. Resolves when it is over, however it went.
 *
 * @param {{ host: string, port: number }} endpoint
 * @returns {Promise<void>}
 */
export function rehearse(endpoint) {
  return new Promise((resolve) => {
    const socket = connect(endpoint, () => socket.write(`${(READ + WRITE).repeat(ROUNDS)}${LAST}`));
    socket.setTimeout(LIMIT_MS, () => socket.destroy());
    socket.on('error', () => {}); // Its close follows.
    socket.on('close', () => resolve()).resume();
  });
}
