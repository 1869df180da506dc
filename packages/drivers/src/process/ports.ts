import { createServer } from 'node:net';
import { type Outcome, ok, refusal, refused } from '@idunn/kernel';

/** A range of ports of one address, both ends in it. */
export interface PortRange {
  readonly host: string;
  readonly fromPort: number;
  readonly toPort: number;
}

/**
 * The ports that activations were promised. What is free cannot be told by trying alone: a program that was not started
 * yet, or does not listen yet, would answer later on a port that somebody else was given.
 */
export class Ports {
  readonly #promised = new Map<string, number>();
  readonly #kept: () => Promise<ReadonlyMap<string, number>>;
  #areKeptKnown = false;
  /** One pick at a time: a port is found and promised without another in between. */
  #pick: Promise<unknown> = Promise.resolve();

  /** `kept`: what daemons before this one had promised; asked once, before the first pick. */
  constructor(kept: () => Promise<ReadonlyMap<string, number>>) {
    this.#kept = kept;
  }

  /** A port that nobody was promised yet, and that is now promised until `forget`; `null` without a range. */
  promise(activation: string, range: PortRange | null, taken: readonly number[]): Promise<Outcome<number | null>> {
    if (range === null) return Promise.resolve(ok(null));
    const picked = this.#pick.then(async () => {
      await this.#learnKept();
      const port = await pickPort(range, new Set([...taken, ...this.#promised.values()]));
      if (port.ok) this.#promised.set(activation, port.value);
      return port;
    });
    this.#pick = Promise.allSettled([picked]);
    return picked;
  }

  /** What an activation was promised before. */
  remember(activation: string, port: number): void {
    this.#promised.set(activation, port);
  }

  /** The activation's port may be picked again. */
  forget(activation: string): void {
    this.#promised.delete(activation);
  }

  async #learnKept(): Promise<void> {
    if (this.#areKeptKnown) return;
    for (const [activation, port] of await this.#kept()) this.remember(activation, port);
    this.#areKeptKnown = true;
  }
}

/** The first port of the range that nobody was promised and that can be bound now. */
async function pickPort(range: PortRange, taken: ReadonlySet<number>): Promise<Outcome<number>> {
  for (let port = range.fromPort; port <= range.toPort; port++) {
    if (!taken.has(port) && (await canBind(range.host, port))) return ok(port);
  }
  return refused(refusal('ports-exhausted', `No port of ${range.host}:${range.fromPort}-${range.toPort} is free.`));
}

function canBind(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
