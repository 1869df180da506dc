import { createServer, type Server, type Socket } from 'node:net';
import type { TLSSocket, TlsOptions } from 'node:tls';
import { LIMITS } from '../limits.ts';
import { Connections } from './connections.ts';
import { type Names, nameOf } from './names.ts';
import { reset } from './stream.ts';

/** A server of streams, over TLS when it is given `tls`; then the client's name (SNI) says which route it wants. */
export class StreamListener {
  readonly server: Server;
  readonly #connections: Connections;

  constructor(names: Names, tls: TlsOptions | null) {
    const options = {
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: LIMITS.keepAliveProbeMs,
      allowHalfOpen: true,
    };
    const take = (socket: Socket): void => {
      const { servername } = socket as Partial<TLSSocket>;
      const route = typeof servername === 'string' ? names.find(nameOf(servername)) : names.find('');
      if (route === undefined) reset(socket);
      else route.acceptStream(socket);
    };
    this.server =
      tls === null
        ? createServer({ ...options, pauseOnConnect: true }, take)
        : process.getBuiltinModule('node:tls').createServer({ ...options, ...tls }, take);
    this.#connections = new Connections(this.server, tls !== null);
    this.server.maxConnections = LIMITS.clientConnectionsPerListener;
  }

  /** Ends what is in the middle of a TLS handshake; streams end with their routes. */
  cut(): void {
    this.#connections.cut();
  }

  close(ended?: () => void): void {
    this.server.close(ended);
  }

  closeAfterAnswers(ended: () => void): void {
    this.close(ended);
  }
}
