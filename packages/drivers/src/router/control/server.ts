import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { refusal } from '@idunn/kernel';
import { LIMITS } from '../limits.ts';
import type { Log } from '../log.ts';
import { readLines, writeLine } from './lines.ts';
import { type OperationContext, operate } from './operations.ts';
import { requestSchema } from './protocol.ts';

/**
 * The control socket: lines of JSON, request ids, one reply each, and notices. Only its owner may connect.
 * The caller holds the fleet's router lock, so a socket file that is there already is a dead router's.
 */
export async function listenForControl(path: string, context: OperationContext, log: Log): Promise<Server> {
  const server = createServer((socket) => serve(socket, context, log));
  server.maxConnections = LIMITS.controlConnections;
  rmSync(path, { force: true });
  const umask = process.umask(0o177); // The socket is born with mode 0600.
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(path, () => {
        server.off('error', reject);
        resolve();
      });
    });
  } finally {
    process.umask(umask);
  }
  chmodSync(path, 0o600);
  server.on('error', (error) => log.write('control-fault', { error: error.message }));
  return server;
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
