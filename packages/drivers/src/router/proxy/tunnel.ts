import type { Socket } from 'node:net';
import { Frames, GOING_AWAY } from './frames.ts';

export interface TunnelEnds {
  readonly client: Socket;
  /** Made with `allowHalfOpen`, as the client's. */
  readonly backend: Socket;
  /** How its end is told: a close frame between two frames of a WebSocket, or a half-close. */
  readonly speaks: 'websocket' | 'anything';
  /** Both sides are closed when neither has sent anything for this long. */
  readonly idleMs: number;
  /** Called once, when both connections have ended. */
  readonly ended: () => void;
}

/**
 * Two connections joined: bytes pass as they come, each side is read only as fast as the other takes them, and the end
 * of one direction is passed on without ending the other.
 */
export class Tunnel {
  readonly #client: Socket;
  readonly #backend: Socket;
  readonly #frames: Frames | null;
  #told = false;
  /** The client was sent a close frame: nothing of the backend may follow. */
  #muted = false;

  constructor({ client, backend, speaks, idleMs, ended }: TunnelEnds) {
    this.#client = client;
    this.#backend = backend;
    this.#frames = speaks === 'websocket' ? new Frames() : null;
    client.setTimeout(idleMs);
    client.on('timeout', () => this.cut());
    backend.on('data', (chunk: Buffer) => this.#toClient(chunk));
    client.on('data', (chunk: Buffer) => {
      if (backend.writable && !backend.write(chunk)) client.pause();
    });
    backend.on('drain', () => client.resume());
    client.on('drain', () => backend.resume());
    client.on('end', () => backend.end());
    backend.on('end', () => client.end());
    let open = 2;
    const closed = (other: Socket): void => {
      // What the other side is still to be sent goes out when it has nothing more to say; else it is over at once.
      if (!(other.readableEnded && other.writableEnded)) other.destroy();
      open--;
      if (open === 0) ended();
    };
    for (const [one, other] of [
      [client, backend],
      [backend, client],
    ] as const) {
      one.on('error', () => undefined); // `close` follows.
      if (one.destroyed) process.nextTick(closed, other);
      else one.once('close', () => closed(other));
      one.resume();
    }
  }

  /**
   * Says that the connection is about to end. A WebSocket's client is sent `1001`, and its answer ends the backend's
   * side too. Any other backend is sent the end of its input: it finishes its answer, and its own end is passed on.
   */
  notice(): void {
    if (this.#told) return;
    this.#told = true;
    if (this.#frames === null) {
      this.#client.pause();
      this.#client.removeAllListeners('data');
      this.#client.resume(); // What it still sends is read away, so that its own end is seen.
      this.#backend.end();
    } else if (this.#frames.between) this.#goingAway();
  }

  cut(): void {
    this.#client.destroy();
    this.#backend.destroy();
  }

  #toClient(chunk: Buffer): void {
    if (this.#muted) return;
    const frames = this.#frames;
    if (frames === null) return this.#send(chunk);
    for (let end = 0; end < chunk.length; ) {
      end = frames.walk(chunk, end);
      if (!this.#told || !frames.between) continue;
      this.#send(chunk.subarray(0, end));
      return this.#goingAway();
    }
    this.#send(chunk);
  }

  #goingAway(): void {
    if (this.#frames?.closing === true) return;
    this.#muted = true;
    this.#send(GOING_AWAY);
  }

  #send(chunk: Buffer): void {
    if (this.#client.writable && !this.#client.write(chunk)) this.#backend.pause();
  }
}
