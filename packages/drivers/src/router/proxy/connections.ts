import type { Server, Socket } from 'node:net';

/** The connections under TLS, which a server does not know before their handshake is done. */
export class Connections {
  readonly #sockets = new Set<Socket>();

  constructor(server: Server, secure: boolean) {
    if (!secure) return;
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
