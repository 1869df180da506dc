import type { Socket } from 'node:net';
import { listenPrivately, type Outcome, ok, type PrivateServer, refusal, refused, type Timers } from '@idunn/kernel';
import { readLines, writeLine } from '@idunn/workload/attending';
import type { z } from 'zod';
import type { Attendant } from '../attendant.ts';
import { LIMITS } from '../limits.ts';
import { asks, isOperation, type Operation, PROTOCOL, requestSchema } from './protocol.ts';

export interface ControlParts {
  readonly attendant: Attendant;
  readonly fleet: string;
  readonly build: string;
  readonly timers: Timers;
  /** Begins the attendant's end. */
  readonly stop: () => void;
  readonly log: (line: string) => void;
}

type Ask<O extends Operation> = z.infer<(typeof asks)[O]>;
type Handlers = {
  readonly [O in Operation]: (parts: ControlParts, ask: Ask<O>) => Outcome<unknown> | Promise<Outcome<unknown>>;
};

const handlers: Handlers = {
  hello: ({ fleet, build }, ask) =>
    ask.fleet === fleet
      ? ok({ program: 'idunn-attendant', protocol: PROTOCOL, fleet, pid: process.pid, build })
      : refused(refusal('attendant-fleet-differs', `The attendant serves fleet ${fleet}, not ${ask.fleet}.`)),
  attend: ({ attendant }, ask) => attendant.attend(ask),
  forget: ({ attendant }, ask) => attendant.forget(ask.activation),
  grant: ({ attendant }, ask) => attendant.grant(ask.activation, ask.epoch),
  view: ({ attendant }, ask) => ok(attendant.view(ask.activation)),
  list: ({ attendant }, ask) => ok(attendant.list(ask.after)),
  metrics: ({ attendant }) => ok(attendant.metrics()),
  stop: ({ stop }) => {
    stop();
    return ok('stopping');
  },
};

/** The control socket: lines of JSON, request ids, one reply each; each presence is told unasked as it is signed. */
export function listenForControl(path: string, parts: ControlParts): Promise<PrivateServer> {
  const sockets = new Set<Socket>();
  return listenPrivately(path, parts.timers, (socket) => {
    if (sockets.size >= LIMITS.controlConnections) return void socket.destroy();
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    serve(socket, parts);
  });
}

function serve(socket: Socket, parts: ControlParts): void {
  let unsubscribe: (() => void) | null = null;
  socket.on('error', () => undefined); // Its close follows.
  socket.on('close', () => unsubscribe?.());
  readLines(socket, (message) => void receive(message), parts.log);

  async function receive(message: unknown): Promise<void> {
    const request = requestSchema.safeParse(message);
    if (!request.success) return void socket.destroy();
    const { id, op, ask } = request.data;
    const outcome = await operate(parts, op, ask, unsubscribe !== null);
    writeLine(socket, { id, ...outcome });
    if (op !== 'hello' || !outcome.ok || socket.destroyed) return;
    unsubscribe ??= parts.attendant.subscribe((heard) => writeLine(socket, { presence: heard }));
  }
}

/** Carries out one request; a malformed one changes nothing. */
async function operate(parts: ControlParts, op: string, ask: unknown, greeted: boolean): Promise<Outcome<unknown>> {
  if (!isOperation(op)) return invalid(`The attendant knows no operation ${op}.`);
  if (!greeted && op !== 'hello') return invalid(`The request ${op} came before hello.`);
  const parsed = asks[op].safeParse(ask);
  if (!parsed.success) {
    const fields = parsed.error.issues.map((issue) => issue.path.join('.')).join(', ');
    return invalid(`The request ${op} is not valid: ${fields}.`);
  }
  const handler = handlers[op] as (parts: ControlParts, ask: unknown) => Promise<Outcome<unknown>>;
  return handler(parts, parsed.data);
}

const invalid = (reason: string): Outcome<never> => refused(refusal('attendant-request-invalid', reason));
