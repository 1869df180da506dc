import type { ClientRequest, IncomingMessage } from 'node:http';
import { LIMITS } from '../limits.ts';
import type { Budget } from './budget.ts';

/**
 * A request's body on its way to the backend: streamed with backpressure, and at the same time kept up to a limit, so
 * that the request can be sent once more. Before `attach` nothing is read, so a held request costs its socket's buffers
 * only.
 */
export class RequestBody {
  readonly #source: IncomingMessage;
  readonly #budget: Budget;
  #kept: Buffer[] | null = [];
  #keptBytes = 0;
  #upstream: ClientRequest | null = null;
  #listening = false;
  #sent = false;
  #ended: boolean;

  constructor(source: IncomingMessage, hasBody: boolean, budget: Budget) {
    this.#source = source;
    this.#budget = budget;
    this.#ended = !hasBody;
  }

  /** Whether everything that was read of the body is still here. */
  get replayable(): boolean {
    return this.#kept !== null;
  }

  /** Whether the client's whole body was read. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Sends what is kept and what follows to this backend request. */
  attach(upstream: ClientRequest): void {
    this.#upstream = upstream;
    this.#sent = false;
    for (const chunk of this.#kept ?? []) this.#send(chunk);
    if (this.#ended) return this.#end(upstream);
    if (!this.#listening) this.#listen();
    upstream.on('drain', () => {
      if (this.#upstream === upstream) this.#source.resume();
    });
    this.#source.resume();
    // The header does not wait for a body that is slow to come, or that waits for 100 Continue.
    setImmediate(() => {
      if (this.#upstream === upstream && !this.#sent) upstream.flushHeaders();
    });
  }

  /** Stops reading; the backend request is given up or the answer is awaited. */
  detach(): void {
    this.#upstream = null;
    if (this.#listening) this.#source.pause();
  }

  /** Nobody wants the rest: it is read out, so that the connection can carry the next request. */
  drop(): void {
    this.#upstream = null;
    this.forget();
    if (this.#listening) this.#source.resume();
  }

  /** The request is answered: it will not be sent again. */
  forget(): void {
    if (this.#kept === null) return;
    this.#kept = null;
    this.#budget.give(this.#keptBytes);
    this.#keptBytes = 0;
  }

  #listen(): void {
    this.#listening = true;
    this.#source.on('data', (chunk: Buffer) => {
      this.#keep(chunk);
      this.#send(chunk);
    });
    this.#source.on('end', () => {
      this.#ended = true;
      if (this.#upstream !== null) this.#end(this.#upstream);
    });
  }

  #send(chunk: Buffer): void {
    this.#sent = true;
    if (this.#upstream?.write(chunk) === false) this.#source.pause();
  }

  #keep(chunk: Buffer): void {
    if (this.#kept === null) return;
    if (this.#keptBytes + chunk.length > LIMITS.keptBodyBytes || !this.#budget.take(chunk.length)) return this.forget();
    this.#kept.push(chunk);
    this.#keptBytes += chunk.length;
  }

  #end(upstream: ClientRequest): void {
    this.#sent = true;
    const trailers = this.#source.rawTrailers;
    if (trailers.length > 0) upstream.addTrailers(pairs(trailers));
    upstream.end();
  }
}

/** Node's flat list of names and values as pairs. */
export function pairs(raw: readonly string[]): [string, string][] {
  const result: [string, string][] = [];
  for (let index = 0; index < raw.length; index += 2) result.push([raw[index] ?? '', raw[index + 1] ?? '']);
  return result;
}
