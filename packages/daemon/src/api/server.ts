import { type TargetView, WHOLE_FLEET } from '@idunn/authority';
import type { Status } from '@idunn/client';
import { authorizationRequest, commandRequest, keyRequest, planRequest, takeBuildRequest } from '@idunn/client/schemas';
import { type Outcome, ok, refusal, refused, StoreFault } from '@idunn/kernel';
import { type FastifyBaseLogger, type FastifyInstance, fastify, LogController } from 'fastify';
import { OBSERVER_TARGET } from '../ground.ts';
import { invalid, readBody, send } from './answer.ts';
import type { EventLog } from './event-log.ts';
import { eventsRoute } from './events-route.ts';
import { inspect } from './inspect.ts';
import { logsRoutes } from './logs-route.ts';
import type { ApiParts } from './parts.ts';
import { historyOf, receiptAnswerOf, targetStatusOf, transactionAnswerOf } from './views.ts';

const BODY_LIMIT_BYTES = 64 * 1024;
const HISTORY_LIMIT = 1_000;
const HISTORY_DEFAULT = 50;

/** Whoever reaches the operator's socket (mode 0600) is the operator; Node shows no peer identity. */
const REQUESTER = { actor: 'operator', tenant: 'local' } as const;

/** The API over one role's socket. It decides nothing: it checks, asks and answers. */
export function apiServer(parts: ApiParts, events: EventLog, logger: FastifyBaseLogger): FastifyInstance {
  const server = fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT_BYTES,
    frameworkErrors: (error, _request, reply) => void invalid(reply, error.message),
  });
  server.setErrorHandler((error: { statusCode?: number; message?: string }, request, reply) => {
    if (error.statusCode !== undefined && error.statusCode < 500) return invalid(reply, error.message);
    request.log.error({ err: error }, 'a request met a fault');
    if (error instanceof StoreFault) return send(reply, refused(refusal(error.code, error.message)));
    return send(reply, refused(refusal('daemon-failed', error.message ?? 'a fault without a message')));
  });
  server.setNotFoundHandler((request, reply) => invalid(reply, `there is no ${request.method} ${request.url}`));
  // No answer depends on a parameter twice: which of the two was meant would be a guess.
  server.addHook('preValidation', async (request, reply) => {
    const twice = Object.entries(request.query as object).find(([, value]) => typeof value !== 'string');
    if (twice !== undefined) await invalid(reply, `${twice[0]} is given more than once`);
  });

  const knows = async (target: string): Promise<Outcome<'known'>> => {
    const fleet = await parts.fleet();
    if (!fleet.ok || fleet.value.targets.includes(target)) return ok('known');
    if ((await parts.engine.target(target)) !== null) return ok('known');
    return refused(
      refusal('target-unknown', `the fleet ${fleet.value.fleet} has no target ${target}`, {
        detail: { targets: fleet.value.targets },
      }),
    );
  };

  server.get('/v1/version', async (_request, reply) => send(reply, ok(await parts.version())));
  server.get('/v1/fleet', async (_request, reply) => send(reply, await parts.fleet()));
  server.get('/v1/status', async (_request, reply) => send(reply, ok(await status(parts))));
  server.post('/v1/commands', async (request, reply) => {
    const body = readBody(commandRequest, request.body);
    if (!body.ok) return send(reply, body);
    const known = 'target' in body.value ? await knows(body.value.target) : ok('known');
    if (!known.ok) return send(reply, known);
    const receipt = await parts.engine.submit({ ...body.value, ...REQUESTER });
    return send(reply, receipt.ok ? ok(receiptAnswerOf(receipt.value)) : receipt);
  });
  server.post('/v1/plan', async (request, reply) => {
    const body = readBody(planRequest, request.body);
    if (!body.ok) return send(reply, body);
    const known = await knows(body.value.target);
    if (!known.ok) return send(reply, known);
    const gone = new AbortController();
    reply.raw.on('close', () => gone.abort());
    return send(reply, await parts.plan(body.value.target, body.value.ref, gone.signal));
  });
  server.get<{ Params: { id: string } }>('/v1/transactions/:id', async (request, reply) => {
    const view = await parts.engine.transaction(request.params.id);
    return send(
      reply,
      view === null
        ? refused(refusal('transaction-unknown', `no transaction ${request.params.id} is kept`))
        : ok(transactionAnswerOf(view)),
    );
  });
  server.get<{ Querystring: { subject?: string; limit?: string } }>('/v1/history', async (request, reply) => {
    const limit = request.query.limit === undefined ? HISTORY_DEFAULT : Number(request.query.limit);
    if (!Number.isInteger(limit) || limit < 1 || limit > HISTORY_LIMIT) {
      return invalid(reply, `limit is a whole number from 1 to ${HISTORY_LIMIT}`);
    }
    const { subject } = request.query;
    const entries = await parts.history(subject === undefined ? { limit } : { subject, limit });
    return send(reply, ok(historyOf((await parts.version()).fleet, entries)));
  });
  server.get<{ Params: { id: string } }>('/v1/inspect/:id', async (request, reply) =>
    send(reply, await inspect(parts, request.params.id)),
  );
  server.get<{ Params: { target: string }; Querystring: { source?: string } }>(
    '/v1/verify/:target',
    async (request, reply) => {
      const { target } = request.params;
      const { source = 'false' } = request.query;
      if (source !== 'true' && source !== 'false') return invalid(reply, 'source is true or false');
      const known = await knows(target);
      if (!known.ok) return send(reply, known);
      const gone = new AbortController();
      reply.raw.on('close', () => gone.abort());
      return send(reply, await parts.verify(target, { source: source === 'true' }, gone.signal));
    },
  );
  server.get<{ Querystring: { subject?: string; all?: string } }>('/v1/incidents', async (request, reply) => {
    const { subject, all = 'false' } = request.query;
    if (all !== 'true' && all !== 'false') return invalid(reply, 'all is true or false');
    // The stops on the whole fleet are nobody's own, and may be unreadable.
    const known = subject === undefined || subject === WHOLE_FLEET ? ok('known') : await knows(subject);
    if (!known.ok) return send(reply, known);
    const { fleet } = await parts.version();
    const asked = { all: all === 'true', ...(subject === undefined ? {} : { subject }) };
    return send(reply, ok({ schema: 'idunn.incidents/v1', fleet, incidents: await parts.incidents(asked) }));
  });
  server.get('/v1/doctor', async (_request, reply) =>
    send(reply, ok({ schema: 'idunn.doctor/v1', checks: await parts.doctor() })),
  );
  server.get('/v1/keys', async (_request, reply) =>
    send(reply, ok({ schema: 'idunn.keys/v1', ...(await parts.keys()) })),
  );
  server.post('/v1/keys', async (request, reply) => {
    const body = readBody(keyRequest, request.body);
    return send(reply, body.ok ? await parts.createKey(body.value.target) : body);
  });
  server.post('/v1/authorizations', async (request, reply) => {
    const body = readBody(authorizationRequest, request.body);
    if (!body.ok) return send(reply, body);
    const { target, envelope } = body.value;
    const known = await knows(target);
    return send(reply, known.ok ? await parts.authorize(target, envelope, REQUESTER) : known);
  });
  server.get<{ Params: { target: string } }>('/v1/targets/:target/authorizations', async (request, reply) => {
    const known = await knows(request.params.target);
    return send(reply, known.ok ? await parts.authorizations(request.params.target) : known);
  });
  server.get<{ Params: { build: string } }>('/v1/builds/:build', async (request, reply) =>
    send(reply, await parts.build(request.params.build)),
  );
  server.post<{ Params: { build: string } }>('/v1/builds/:build/export', async (request, reply) =>
    send(reply, await parts.exportBuild(request.params.build)),
  );
  server.post('/v1/builds', async (request, reply) => {
    const body = readBody(takeBuildRequest, request.body);
    if (!body.ok) return send(reply, body);
    const known = await knows(body.value.target);
    return send(reply, known.ok ? await parts.takeBuild(body.value.target, body.value.directory) : known);
  });
  server.get('/metrics', async (_request, reply) => {
    void reply.type('text/plain; version=0.0.4');
    return send(reply, ok(await parts.metrics()));
  });
  logsRoutes(server, parts, knows);
  eventsRoute(server, parts.engine, events);
  return server;
}

async function status(parts: ApiParts): Promise<Status> {
  const { version, pid, startedAt, fleet, machine, directory } = await parts.version();
  // The files first: the engine answers for what they name now. One that cannot be read hides nothing that runs.
  const bound = await parts.fleet();
  const views = await parts.engine.targets();
  const attended = await parts.attended();
  const runsAs = await parts.runsAs();
  return {
    schema: 'idunn.status/v1',
    fleet,
    machine,
    directory,
    daemon: { version, pid, startedAt },
    separation: weakestOf(views, runsAs),
    faults: bound.ok ? bound.value.faults : [],
    incidents: parts.engine
      .incidents()
      .filter(({ subject }) => subject === WHOLE_FLEET)
      .map(({ code, subject, since, detail, remedy }) => ({ code, subject, since, detail, remedy })),
    targets: views
      .toSorted((a, b) => a.target.localeCompare(b.target))
      .map((view) => targetStatusOf(view, attended[view.target], runsAs[view.target])),
  };
}

/** Of a fleet in which nothing is admitted nobody can say more than the least. */
function weakestOf(
  views: readonly TargetView[],
  runsAs: Awaited<ReturnType<ApiParts['runsAs']>>,
): Status['separation'] {
  const admitted = views.filter((view) => view.admitted !== null && view.target !== OBSERVER_TARGET);
  const found = admitted.map(({ target }) => runsAs[target]?.separation ?? 'same-user');
  if (found.length === 0 || found.includes('same-user')) return 'same-user';
  return found.includes('user-per-target') ? 'user-per-target' : 'user-per-workload';
}
