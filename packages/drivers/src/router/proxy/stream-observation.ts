import { connect, type Socket } from 'node:net';
import type { RouteMember } from '@idunn/authority';
import type { Timers } from '@idunn/kernel';
import type { RouteContract } from '@idunn/release';
import { LIMITS } from '../limits.ts';
import { nameToAsk, reachable } from '../model/place.ts';
import { peerText, type Streams } from './stream.ts';

/**
 * Connects as a client would, through the stable address, and answers the member that this very connection was joined
 * to; `null` when it was joined to none in time. Nothing is sent: the backend sees a client that leaves at once.
 */
export function observeStream(contract: RouteContract, streams: Streams, timers: Timers): Promise<RouteMember | null> {
  const looking = streams.look();
  return new Promise((resolve) => {
    const socket = connectTo(contract);
    const withdraw = timers.after(LIMITS.observeStreamMs, () => end(null));
    const end = (member: RouteMember | null): void => {
      withdraw();
      looking.end();
      socket.destroy();
      resolve(member);
    };
    socket.once('error', () => end(null));
    socket.once('connect', () => {
      looking.await(peerText(socket.localAddress, socket.localPort), (stream) => stream.onReached(end));
    });
  });
}

function connectTo({ listen, tls, names }: RouteContract): Socket {
  const place = { host: reachable(listen.host), port: listen.port };
  if (tls === null) return connect(place);
  const name = nameToAsk(names);
  const { connect: connectSecurely } = process.getBuiltinModule('node:tls');
  return connectSecurely({ ...place, rejectUnauthorized: false, ...(name === undefined ? {} : { servername: name }) });
}
