import { API_HEADER, API_VERSION, type LogLines } from '@idunn/client';
import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import type { FastifyInstance } from 'fastify';
import { send } from './answer.ts';
import type { ApiParts } from './parts.ts';

const LINES_LIMIT = 10_000;
const LINES_DEFAULT = 100;
/** The form of every activation id: a word that names one file and nothing above it. */
const ACTIVATION = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

interface LogsQuery {
  readonly lines?: string;
  readonly activation?: string;
}

/** `GET /v1/targets/:target/logs` and `…/logs/follow`: the activation that was launched last, unless one is named. */
export function logsRoutes(server: FastifyInstance, parts: Pick<ApiParts, 'logs'>, knows: KnowsTarget): void {
  const choose = async (target: string, query: LogsQuery): Promise<Outcome<{ activation: string; lines: number }>> => {
    const known = await knows(target);
    if (!known.ok) return known;
    const lines = query.lines === undefined ? LINES_DEFAULT : Number(query.lines);
    if (!Number.isInteger(lines) || lines < 0 || lines > LINES_LIMIT) {
      return refused(refusal('request-invalid', `lines is a whole number from 0 to ${LINES_LIMIT}`));
    }
    if (query.activation !== undefined && !ACTIVATION.test(query.activation)) {
      return refused(refusal('request-invalid', 'activation is the id of one launch, as idunn status shows it'));
    }
    const activation = query.activation ?? (await parts.logs.newest(target));
    if (activation === null) return refused(refusal('log-absent', `nothing of ${target} was ever started`));
    if (!(await parts.logs.has(target, activation))) {
      return refused(refusal('log-absent', `no log of ${activation} is kept for ${target}`));
    }
    return ok({ activation, lines });
  };
  server.get<{ Params: { target: string }; Querystring: LogsQuery }>(
    '/v1/targets/:target/logs',
    async (request, reply) => {
      const { target } = request.params;
      const chosen = await choose(target, request.query);
      if (!chosen.ok) return send(reply, chosen);
      const { activation, lines } = chosen.value;
      const answer: LogLines = {
        schema: 'idunn.log/v1',
        target,
        activation,
        lines: [...(await parts.logs.tail(target, activation, lines))],
      };
      return send(reply, ok(answer));
    },
  );
  server.get<{ Params: { target: string }; Querystring: LogsQuery }>(
    '/v1/targets/:target/logs/follow',
    async (request, reply) => {
      const { target } = request.params;
      const chosen = await choose(target, request.query);
      if (!chosen.ok) return send(reply, chosen);
      reply.hijack();
      const gone = new AbortController();
      reply.raw.on('close', () => gone.abort());
      reply.raw.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', [API_HEADER]: String(API_VERSION) });
      reply.raw.flushHeaders();
      const { activation, lines } = chosen.value;
      try {
        for await (const line of parts.logs.follow(target, activation, lines, gone.signal)) {
          // A reader that does not read holds up its own log only.
          if (!reply.raw.write(`${line}\n`)) await drained(reply.raw, gone.signal);
        }
        reply.raw.end();
      } catch (fault) {
        // The answer has begun: its reader learns by the broken stream, never by one that stays open for ever.
        request.log.error({ err: fault }, 'a log could not be followed');
        reply.raw.destroy();
      }
      return reply;
    },
  );
}

export type KnowsTarget = (target: string) => Promise<Outcome<'known'>>;

const drained = (stream: NodeJS.WritableStream, gone: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    stream.once('drain', resolve);
    gone.addEventListener('abort', () => resolve(), { once: true });
  });
