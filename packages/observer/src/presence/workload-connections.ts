import type { Socket } from 'node:net';
import type { Clock, Refusal } from '@idunn/kernel';
import { lineReader } from '@idunn/readiness';
import { z } from 'zod';
import { MAX_HINT_BACKLOG_BYTES, MAX_PRESENCE_CONNECTIONS } from '../limits.ts';
import type { Incoming, Observer } from '../observer.ts';

const envelopeSchema = z.looseObject({ payload: z.string() });
/** What may be read of an envelope before it is verified: whom it claims to speak for. */
const claimSchema = z.looseObject({
  header: z.looseObject({ subject: z.string().min(1).max(512), sequence: z.int().positive() }),
});

interface Connection {
  readonly socket: Socket;
  /** True once a presence of it was accepted. */
  proven: boolean;
  /** The newest presence that was not looked at yet, and no other: a flood costs one at a time. */
  inbox: Incoming | null;
  /** The newest presence of an activation that is not current, and no other. */
  early: Incoming | null;
}

/**
 * The workloads' side: each connection holds at most one unread line, one presence to be looked at and one that came
 * too early. Connections take turns, so that none keeps the others waiting.
 */
export function workloadConnections(ports: {
  readonly observer: Observer;
  readonly clock: Clock;
  /** Lets other work go first, then calls `turn`. */
  readonly yieldTo: (turn: () => void) => void;
  readonly log: (text: string) => void;
}): { accept(socket: Socket): void; count(): number; close(): void } {
  const { observer, clock } = ports;
  const connections = new Set<Connection>();
  const ready: Connection[] = [];
  let turning = false;

  observer.onActivated((activation) => {
    for (const connection of connections) {
      if (connection.early?.claimed !== activation) continue;
      const { early } = connection;
      connection.early = null;
      hear(connection, early);
    }
  });

  function hear(connection: Connection, incoming: Incoming): void {
    if (observer.hear(incoming) === 'unknown-activation') connection.early = incoming;
  }

  function turn(): void {
    const connection = ready.shift();
    turning = ready.length > 0;
    if (turning) ports.yieldTo(turn);
    const incoming = connection?.inbox ?? null;
    if (connection === undefined || incoming === null) return;
    connection.inbox = null;
    if (connections.has(connection)) hear(connection, incoming);
  }

  function enqueue(connection: Connection, incoming: Incoming): void {
    const waits = connection.inbox !== null;
    connection.inbox = incoming;
    if (waits) return;
    ready.push(connection);
    if (!turning) {
      turning = true;
      ports.yieldTo(turn);
    }
  }

  function take(connection: Connection, type: string, envelope: unknown): void {
    if (type !== 'presence') return;
    const claim = claimOf(envelope);
    if (claim === null) return ports.log('a presence without a readable header was dropped');
    enqueue(connection, {
      envelope,
      claimed: claim.subject,
      sequence: claim.sequence,
      receivedAtMs: clock.monotonicMs(),
      answer: (refused) => {
        connection.proven ||= refused === null;
        hint(connection.socket, claim.sequence, refused);
      },
    });
  }

  /** Room for a newcomer: the oldest connection that never proved itself goes. */
  function makeRoom(): boolean {
    if (connections.size < MAX_PRESENCE_CONNECTIONS) return true;
    for (const connection of connections) {
      if (connection.proven) continue;
      connection.socket.destroy();
      connections.delete(connection);
      return true;
    }
    return false;
  }

  return {
    accept(socket) {
      if (!makeRoom()) return void socket.destroy();
      const connection: Connection = { socket, proven: false, inbox: null, early: null };
      connections.add(connection);
      const read = lineReader((type, envelope) => take(connection, type, envelope));
      socket.on('data', (chunk: Buffer) => {
        if (!read(chunk)) socket.destroy();
      });
      socket.on('error', () => undefined);
      socket.on('close', () => connections.delete(connection));
    },
    count: () => connections.size,
    close() {
      for (const { socket } of connections) socket.destroy();
      connections.clear();
    },
  };
}

function claimOf(envelope: unknown): { subject: string; sequence: number } | null {
  try {
    const { payload } = envelopeSchema.parse(envelope);
    return claimSchema.parse(JSON.parse(Buffer.from(payload, 'base64').toString('utf8'))).header;
  } catch {
    return null;
  }
}

/** For the program's log only; a program that does not read gets none. */
function hint(socket: Socket, sequence: number, refused: Refusal | null): void {
  if (socket.destroyed || socket.writableLength > MAX_HINT_BACKLOG_BYTES) return;
  const said =
    refused === null
      ? { type: 'presence-ack', sequence }
      : { type: 'presence-refused', sequence, code: refused.code, reason: refused.reason };
  socket.write(`${JSON.stringify(said)}\n`);
}
