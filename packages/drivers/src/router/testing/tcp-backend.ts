import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { RouteMember } from '@idunn/authority';
import { memberAt } from './backend.ts';
import type { Scope } from './rig.ts';

export interface StreamBackend {
  readonly server: Server;
  readonly member: RouteMember;
  /** Connections that stand, in the order in which they came. */
  readonly sockets: Socket[];
}

/** A backend of streams in this process; ended with the test. */
export async function startStreamBackend(
  scope: Scope,
  name: string,
  accept: (socket: Socket) => void,
): Promise<StreamBackend> {
  const sockets: Socket[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.splice(sockets.indexOf(socket), 1));
    accept(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  scope.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { server, member: memberAt(name, (server.address() as AddressInfo).port), sockets };
}
