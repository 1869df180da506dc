import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { keepSocket, refusal, type Timers } from '@idunn/kernel';
import { readLines, writeLine } from '../../helper/lines.ts';
import { LIMITS } from '../limits.ts';
import type { Log } from '../log.ts';
import { type OperationContext, operate } from './operations.ts';
import { requestSchema } from './protocol.ts';

export interface Control {
  /** Listens no more; connections stand. */
  close(): void;
  /** Ends the connections. */
  end(): void;
}

/**
 * The control socket: lines of JSON, request ids, one reply each, and notices. Only its owner may connect. The caller
 * holds the fleet's router lock, so a socket file that is there already is a dead router's. Where the file is taken
 * away it is made again: the router outlives whoever else could bring it back within reach.
 */
export async function listenForControl(
  path: string,
  context: OperationContext,
  log: Log,
  timers: Timers,
): Promise<Control> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    serve(socket, context, log);
  });
  server.maxConnections = LIMITS.controlConnections;
  await listen(server, path);
  server.on('error', (error) => log.write('control-fault', { error: error.message }));
  const leave = keepSocket(path, timers, async () => {
    log.write('control-socket-lost');
    server.close();
    await listen(server, path);
  });
  return {
    close() {
      leave();
      server.close();
    },
    end() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function listen(server: Server, path: string): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  rmSync(path, { force: true });
  // It is born without the bit to write for others, without which none can connect (main.ts).
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => {
      server.off('error', reject);
      resolve();
    });
  });
  chmodSync(path, 0o600);
}

function serve(socket: Socket, context: OperationContext, log: Log): void {
  let greeted = false;
  const unsubscribe = context.router.subscribe((event) => greeted && writeLine(socket, { event }));
  socket.on('close', unsubscribe);
  socket.on('error', (error) => log.write('control-connection-fault', { error: error.message }));

  const answer = async (id: number, op: string, ask: unknown): Promise<void> => {
    try {
      const outcome = await operate(context, op, ask);
      if (op === 'hello' && outcome.ok) greeted = true;
      writeLine(socket, { id, ...outcome });
    } catch (error) {
      // A fault of our own: the caller must look, it gets no answer.
      log.write('operation-fault', { op, error: String(error) });
      socket.destroy();
    }
  };

  readLines(socket, (message) => {
    const request = requestSchema.safeParse(message);
    if (!request.success) {
      socket.destroy();
      return;
    }
    const { id, op, ask } = request.data;
    if (!greeted && op !== 'hello') {
      const reason = `The request ${op} came before hello.`;
      writeLine(socket, { id, ok: false, refusal: refusal('router-request-invalid', reason) });
      return;
    }
    void answer(id, op, ask);
  });
}
