import type { ServerResponse } from 'node:http';
import type { EngineApi } from '@idunn/authority';
import { API_HEADER, API_VERSION } from '@idunn/client';
import { refusal, refused } from '@idunn/kernel';
import type { FastifyInstance } from 'fastify';
import { send } from './answer.ts';
import type { EventLog, NumberedEvent } from './event-log.ts';
import { transactionAnswerOf } from './views.ts';

/** A reader that falls this far behind is let go; it comes back and is told the rest. */
const UNREAD_LIMIT_BYTES = 4 * 1024 * 1024;

interface EventsQuery {
  readonly transaction?: string;
  readonly target?: string;
}

/** `GET /v1/events`: what happens, as server-sent events, over reconnects without a gap. */
export function eventsRoute(server: FastifyInstance, engine: EngineApi, log: EventLog): void {
  const open = new Set<ServerResponse>();
  server.addHook('preClose', () => {
    for (const stream of open) stream.end();
  });
  server.get<{ Querystring: EventsQuery }>('/v1/events', async (request, reply) => {
    const { transaction, target } = request.query;
    const wanted = ({ event }: NumberedEvent): boolean =>
      (transaction === undefined || event.transaction === transaction) &&
      (target === undefined || event.target === target);
    const lastId = request.headers['last-event-id'];
    const missed = typeof lastId === 'string' ? log.since(lastId) : null;
    // Subscribed before the snapshot is read: what happens in between is told twice rather than never.
    const early: NumberedEvent[] = [];
    const unsubscribeEarly = log.subscribe((numbered) => early.push(numbered));
    const snapshot = missed === null && transaction !== undefined ? await engine.transaction(transaction) : null;
    unsubscribeEarly();
    if (missed === null && transaction !== undefined && snapshot === null) {
      return send(reply, refused(refusal('transaction-unknown', `no transaction ${transaction} is kept`)));
    }
    reply.hijack();
    const stream = reply.raw;
    stream.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      [API_HEADER]: String(API_VERSION),
    });
    stream.flushHeaders();
    if (snapshot !== null) stream.write(`event: snapshot\ndata: ${JSON.stringify(transactionAnswerOf(snapshot))}\n\n`);
    const tell = (numbered: NumberedEvent): void => {
      if (!wanted(numbered)) return;
      stream.write(`id: ${numbered.id}\ndata: ${JSON.stringify(numbered.event)}\n\n`);
      if (stream.writableLength > UNREAD_LIMIT_BYTES) stream.destroy();
    };
    for (const numbered of missed ?? early) tell(numbered);
    const unsubscribe = log.subscribe(tell);
    open.add(stream);
    stream.on('close', () => {
      unsubscribe();
      open.delete(stream);
    });
    return reply;
  });
}
