import { Agent, request } from 'node:http';

/** One answer that the service acknowledged a write with. */
export interface Acked {
  readonly id: string;
  readonly seq: number;
  readonly hash: string;
  readonly epoch: number;
}

/** An answer and when it came, in milliseconds of UTC. */
interface Received extends Acked {
  readonly receivedAtMs: number;
}

export interface LoadReport {
  readonly requests: number;
  readonly acked: readonly Received[];
  /** Answers with success that do not speak of what was asked, in words: somebody else gave them. */
  readonly strays: readonly string[];
  /** First-try failures, in words: any answer but 2xx, or a connection error. */
  readonly failures: readonly string[];
  /** Every request's time, in milliseconds. */
  readonly latenciesMs: readonly number[];
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

/**
 * A closed loop of clients, against ghostlight unless other paths are given: each posts an event, waits for the answer,
 * rests, and reads after every fourth post. Stops when told to; every request that was begun is waited for.
 */
export class Load {
  readonly #port: number;
  readonly #agent: Agent;
  readonly #restMs: number;
  readonly #paths: { readonly post: string; readonly read: string };
  readonly #acked: Received[] = [];
  readonly #strays: string[] = [];
  readonly #failures: string[] = [];
  readonly #latenciesMs: number[] = [];
  readonly #waiting = new Set<{ readonly acked: number; readonly resolve: (atMs: number) => void }>();
  #requests = 0;
  #lastAckMs = 0;
  #stopped = false;
  readonly #clients: Promise<void>[];

  constructor(options: {
    port: number;
    clients: number;
    restMs: number;
    name: string;
    paths?: { readonly post: string; readonly read: string };
  }) {
    this.#paths = options.paths ?? { post: '/events', read: '/head' };
    this.#port = options.port;
    this.#restMs = options.restMs;
    this.#agent = new Agent({ keepAlive: true, maxSockets: options.clients });
    this.#clients = Array.from({ length: options.clients }, (_, client) => this.#loop(`${options.name}-${client}`));
  }

  get acked(): number {
    return this.#acked.length;
  }

  /** When the newest write was acknowledged, on this process's performance clock. */
  get lastAckMs(): number {
    return this.#lastAckMs;
  }

  /** Resolves once `count` more writes are acknowledged, with the time of the last of them. */
  moreAcked(count: number): Promise<number> {
    return new Promise((resolve) => this.#waiting.add({ acked: this.#acked.length + count, resolve }));
  }

  async stop(): Promise<LoadReport> {
    this.#stopped = true;
    await Promise.all(this.#clients);
    this.#agent.destroy();
    return {
      requests: this.#requests,
      acked: this.#acked,
      strays: this.#strays,
      failures: this.#failures,
      latenciesMs: this.#latenciesMs,
    };
  }

  async #loop(client: string): Promise<void> {
    for (let round = 0; !this.#stopped; round++) {
      const id = `${client}-${round}`;
      const answer = await this.#ask('POST', this.#paths.post, JSON.stringify({ id, text: `a light from ${client}` }));
      if (answer !== null) this.#answered(id, answer.body);
      if (round % 4 === 3) await this.#ask('GET', this.#paths.read);
      await new Promise((resolve) => setTimeout(resolve, this.#restMs));
    }
  }

  #answered(id: string, body: string): void {
    const acked = JSON.parse(body) as Acked;
    if (acked.id === id) this.#acknowledge(acked);
    else this.#strays.push(`${id} at ${new Date().toISOString()}: ${body.slice(0, 200)}`);
  }

  #acknowledge(acked: Acked): void {
    this.#acked.push({ ...acked, receivedAtMs: Date.now() });
    this.#lastAckMs = performance.now();
    for (const one of this.#waiting) {
      if (this.#acked.length < one.acked) continue;
      this.#waiting.delete(one);
      one.resolve(this.#lastAckMs);
    }
  }

  async #ask(method: string, path: string, body?: string): Promise<Answer | null> {
    this.#requests++;
    const begun = performance.now();
    try {
      const answer = await send({ agent: this.#agent, port: this.#port, method, path, body });
      this.#latenciesMs.push(performance.now() - begun);
      if (answer.status >= 200 && answer.status < 300) return answer;
      this.#failures.push(`${method} ${path}: ${answer.status} ${answer.body.slice(0, 200)}`);
    } catch (error) {
      this.#failures.push(`${method} ${path}: ${String(error)}`);
    }
    return null;
  }
}

/** One request on loopback. Rejects on a connection error and after 30 s. */
export function send(options: {
  agent?: Agent;
  port: number;
  method: string;
  path: string;
  body?: string | undefined;
}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers: Record<string, string | number> =
      options.body === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(options.body) };
    const { port, method, path, agent } = options;
    const sent = request(
      { host: '127.0.0.1', port, method, path, headers, ...(agent ? { agent } : {}) },
      (response) => {
        let body = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          body += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
        response.on('error', reject);
      },
    );
    sent.setTimeout(30_000, () => sent.destroy(new Error('no answer for 30 s')));
    sent.on('error', reject);
    sent.end(options.body);
  });
}
