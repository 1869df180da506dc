import type { Server } from 'node:net';
import type { TlsOptions, Server as TlsServer } from 'node:tls';
import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import type { ListenAddress } from '@idunn/release';
import { LIMITS } from '../limits.ts';
import type { Log } from '../log.ts';
import type { Place } from '../model/place.ts';
import type { Inheritance } from '../succession/inheritance.ts';
import type { Certificates } from '../tls/certificates.ts';
import type { Pair } from '../tls/pair.ts';
import { HttpListener } from './http-listener.ts';
import { Names, nameOf } from './names.ts';
import type { LiveRoute } from './route.ts';
import { StreamListener } from './stream-listener.ts';

interface Bound {
  readonly place: Place;
  readonly names: Names;
  readonly listener: HttpListener | StreamListener;
  /** The fault of its listening, or `null` once it listens. */
  readonly listening: Promise<string | null>;
}

/**
 * The listening sockets, one for each address; routes that are told apart by name share one. Binding or closing one
 * never touches another (F9, F26).
 */
export class Listeners {
  readonly #bound = new Map<string, Bound>();
  readonly #certificates: Certificates;
  readonly #log: Log;
  readonly #inheritance: Inheritance;

  constructor(certificates: Certificates, log: Log, inheritance: Inheritance) {
    this.#certificates = certificates;
    this.#log = log;
    this.#inheritance = inheritance;
  }

  /** Listens for the route, if it does not yet. Until the route serves there, its requests are answered 503. */
  async bind(places: readonly Place[], route: LiveRoute): Promise<Outcome<'bound'>> {
    // All at once: a socket that is inherited has clients already, which may ask for any of its names.
    const all = await Promise.all(places.map((place) => this.#bindOne(place, route)));
    return all.find((bound) => !bound.ok) ?? ok('bound');
  }

  async #bindOne(place: Place, route: LiveRoute): Promise<Outcome<'bound'>> {
    const { text, kind } = place;
    const unavailable = (because: string): Outcome<never> =>
      refused(refusal('route-listener-unavailable', `Route ${route.name} cannot listen on ${text}: ${because}.`));
    const bound = this.#bound.get(text) ?? this.#open(place);
    if (bound.place.kind !== kind) return unavailable(`it is a listener for ${bound.place.kind}`);
    if (!bound.names.has(route) && bound.names.size >= LIMITS.routesPerListener) {
      return unavailable(`${bound.names.size} routes share it, the limit`);
    }
    bound.names.add(route);
    const fault = await bound.listening;
    if (fault !== null) return unavailable(fault);
    this.refresh();
    return ok('bound');
  }

  #open(place: Place): Bound {
    const { text } = place;
    const { names, listener } = this.#make(place);
    const { server } = listener;
    const listening = listen(server, place, this.#inheritance).then((fault) => {
      if (fault !== null) {
        if (this.#bound.get(text) === bound) this.#bound.delete(text);
        return fault;
      }
      // A fault of one accepted connection is that connection's own.
      server.on('error', (error) => this.#log.write('listener-fault', { address: text, error: error.message }));
      server.on('drop', () => this.#log.write('connection-dropped', { address: text, because: 'limit' }));
      return null;
    });
    const bound: Bound = { place, names, listener, listening };
    this.#bound.set(text, bound);
    return bound;
  }

  /** What routes serve, or a certificate, has changed. */
  refresh(): void {
    for (const { names, place, listener } of this.#bound.values()) {
      names.changed();
      if (place.kind !== 'https' && place.kind !== 'tls') continue;
      // Clients that name no host are shown this one.
      const credentials = this.#pairFor(names, '')?.credentials;
      if (credentials !== undefined) (listener.server as TlsServer).setSecureContext(credentials);
    }
  }

  /** The route leaves its listeners but those on `kept`; the last one's leaving closes a listener. */
  closeAllBut(route: LiveRoute, kept: readonly Place[]): void {
    const texts = new Set(kept.map(({ text }) => text));
    for (const [text, { names, listener }] of this.#bound) {
      if (texts.has(text) || !names.has(route)) continue;
      names.delete(route);
      if (names.size > 0) continue;
      this.#bound.delete(text);
      listener.close();
    }
    this.refresh();
  }

  /** The socket that listens on an address. */
  socketOf(address: string): Server | null {
    const server = this.#bound.get(address)?.listener.server;
    return server?.listening === true ? server : null;
  }

  /**
   * Stops listening everywhere; resolves when everything has ended. `cut` is called to bring that about in the end.
   * Idle connections end at once, or, where a successor listens already, `after-answers`.
   */
  async close(
    idle: 'at-once' | 'after-answers',
    elapse: (fire: () => void) => () => void,
    cut: () => void,
  ): Promise<void> {
    const listeners = [...this.#bound.values()].map(({ listener }) => listener);
    const end = (listener: Bound['listener']): Promise<void> =>
      new Promise((resolve) => (idle === 'at-once' ? listener.close(resolve) : listener.closeAfterAnswers(resolve)));
    const ended = Promise.all(listeners.map(end));
    const withdraw = elapse(() => {
      cut();
      for (const listener of listeners) listener.cut();
    });
    await ended;
    withdraw();
  }

  #make(place: Place): Pick<Bound, 'names' | 'listener'> {
    const names = new Names(place.text);
    switch (place.kind) {
      case 'http':
      case 'redirect':
        return { names, listener: new HttpListener(place.kind, names, null) };
      case 'https':
        return { names, listener: new HttpListener('https', names, this.#tls(names, ['http/1.1'])) };
      case 'tcp':
        return { names, listener: new StreamListener(names, null) };
      case 'tls':
        return { names, listener: new StreamListener(names, this.#tls(names, null)) };
    }
  }

  #tls(names: Names, protocols: string[] | null): TlsOptions {
    return {
      minVersion: 'TLSv1.2',
      handshakeTimeout: LIMITS.handshakeMs,
      ...(protocols === null ? {} : { ALPNProtocols: protocols }),
      SNICallback: (name, answer) => {
        const pair = this.#pairFor(names, nameOf(name));
        if (pair === null) answer(new Error('no certificate is served'));
        else answer(null, pair.context);
      },
    };
  }

  /** An unknown name is shown the first certificate, and its request is then answered 421. */
  #pairFor(names: Names, name: string): Pair | null {
    const route = names.find(name) ?? names.first;
    const contract = route?.served?.contract;
    return contract === undefined ? null : this.#certificates.pairFor(contract, name);
  }
}

/** Resolves with the fault, or `null` once the server listens. */
async function listen(server: Server, { address, text }: Place, inheritance: Inheritance): Promise<string | null> {
  const inherited = await inheritance.take(text, (from) => server.listen(from, LIMITS.listenBacklog));
  return inherited ? null : bindTo(server, address);
}

function bindTo(server: Server, { host, port }: ListenAddress): Promise<string | null> {
  return new Promise((resolve) => {
    const failed = (error: NodeJS.ErrnoException): void => resolve(error.code ?? error.message);
    server.once('error', failed);
    server.listen({ host, port, backlog: LIMITS.listenBacklog, exclusive: true }, () => {
      server.off('error', failed);
      resolve(null);
    });
  });
}
