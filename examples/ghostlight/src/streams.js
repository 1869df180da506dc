import {
  PAGE_LIMIT_EVENTS,
  STREAM_BUFFER_LIMIT_BYTES,
  STREAM_LIMIT_READERS,
  STREAM_REPLAY_LIMIT_EVENTS,
} from './limits.js';

const HEARTBEAT_MS = 15_000;
const RETRY_MS = 300;

/**
 * The readers of `GET /stream`: server-sent events, each with its number as id, so that a reader resumes where it was.
 */
export class Streams {
  #journal;
  #readers = new Set();

  /** @param {import('./journal.js').Journal} journal */
  constructor(journal) {
    this.#journal = journal;
    setInterval(() => this.#send(': still here\n\n'), HEARTBEAT_MS).unref();
  }

  /**
   * Replays what the reader missed, then keeps it up to date. All in one turn, so that no event falls between.
   * Answers false when there are too many readers.
   *
   * @param {import('node:http').ServerResponse} response
   * @param {number} from the first number that the reader wants
   */
  open(response, from) {
    if (this.#readers.size >= STREAM_LIMIT_READERS) return false;
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    response.write(`retry: ${RETRY_MS}\n\n`);
    if (this.#journal.head().seq - from >= STREAM_REPLAY_LIMIT_EVENTS) {
      response.end(`event: behind\ndata: ${JSON.stringify({ from })}\n\n`);
      return true;
    }
    let next = from;
    for (let page = this.#page(next); page.length > 0; page = this.#page(next)) {
      for (const event of page) response.write(frame(event));
      next = page.at(-1).seq + 1;
    }
    this.#readers.add(response);
    response.on('close', () => this.#readers.delete(response));
    return true;
  }

  /** @param {import('./event.js').Event} event */
  publish(event) {
    if (this.#readers.size > 0) this.#send(frame(event));
  }

  /** Lets every reader go: each comes back to whoever serves then. */
  end() {
    for (const response of this.#readers) response.end();
  }

  #page(from) {
    return this.#journal.events(from, PAGE_LIMIT_EVENTS);
  }

  #send(text) {
    for (const response of this.#readers) {
      response.write(text);
      if (response.writableLength > STREAM_BUFFER_LIMIT_BYTES) response.destroy();
    }
  }
}

const frame = (event) => `id: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`;
