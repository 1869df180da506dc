import { answer, refuse, rejectBeforeEffect } from './answers.js';
import { readDraft } from './event.js';
import { BODY_LIMIT_BYTES, PAGE_LIMIT_EVENTS } from './limits.js';

/**
 * The HTTP interface.
 *
 * @param {{
 *   journal: import('./journal.js').Journal,
 *   commits: import('./group-commit.js').GroupCommit,
 *   streams: import('./streams.js').Streams,
 *   page: string,
 *   version: () => object,
 *   isNotWriter: (error: unknown) => boolean,
 *   isStopping: () => boolean,
 * }} world
 * @returns {import('node:http').RequestListener}
 */
export function createApi(world) {
  const { journal, streams, page, version } = world;
  const routes = {
    'GET /': (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store' });
      response.end(page);
    },
    'GET /healthz': (_request, response) => answer(response, 200, { ok: true }),
    'GET /version': (_request, response) => answer(response, 200, version()),
    'GET /head': (_request, response) => answer(response, 200, journal.head()),
    'GET /events': (_request, response, query) => listEvents(journal, response, query),
    'GET /stream': (request, response, query) => {
      const last = Number(request.headers['last-event-id'] ?? Number.NaN);
      const from = Number.isSafeInteger(last) ? last + 1 : whole(query.get('from'), journal.head().seq + 1);
      if (from === null) refuse(response, 400, 'from is a whole number of at least 1');
      else if (!streams.open(response, from)) refuse(response, 503, 'too many readers');
    },
    'POST /events': (request, response) => postEvent(world, request, response),
  };
  return (request, response) => {
    if (world.isStopping()) response.setHeader('Connection', 'close');
    const url = new URL(request.url ?? '/', 'http://ghostlight');
    const route = routes[`${request.method} ${url.pathname}`];
    if (route === undefined) refuse(response, 404, `there is no ${request.method} ${url.pathname}`);
    else route(request, response, url.searchParams);
  };
}

function listEvents(journal, response, query) {
  const from = whole(query.get('from'), 1);
  const limit = whole(query.get('limit'), PAGE_LIMIT_EVENTS);
  if (from === null || limit === null || limit > PAGE_LIMIT_EVENTS) {
    refuse(response, 400, `from is a whole number of at least 1, limit one of at most ${PAGE_LIMIT_EVENTS}`);
    return;
  }
  const events = journal.events(from, limit);
  answer(response, 200, { events, next: events.length === limit ? from + limit : null });
}

function postEvent(world, request, response) {
  const chunks = [];
  let bytes = 0;
  request.on('data', (chunk) => {
    bytes += chunk.length;
    if (bytes <= BODY_LIMIT_BYTES) chunks.push(chunk);
  });
  request.on('end', () => {
    if (bytes > BODY_LIMIT_BYTES) {
      refuse(response, 413, `a body has at most ${BODY_LIMIT_BYTES} bytes`);
      return;
    }
    const { draft, fault } = readDraft(Buffer.concat(chunks).toString('utf8'));
    if (draft === undefined) refuse(response, 400, fault);
    else commit(world, draft, response);
  });
}

function commit({ commits, streams, isNotWriter }, draft, response) {
  const queued = commits.add(draft, (error, kept) => {
    if (error !== null) {
      if (isNotWriter(error)) rejectBeforeEffect(response, 'this process may not write now');
      else refuse(response, 500, 'the event may or may not have been kept; repeat it under the same id');
      return;
    }
    const { event, repeated } = kept;
    const { seq, id, hash, epoch } = event;
    answer(response, repeated ? 200 : 201, { seq, id, hash, epoch });
    if (!repeated) streams.publish(event);
  });
  if (!queued) rejectBeforeEffect(response, 'too many events wait for the next commit');
}

/** A whole number of at least 1; `fallback` when there is none, `null` when it is something else. */
function whole(text, fallback) {
  if (text === null) return fallback;
  const number = Number(text);
  return Number.isSafeInteger(number) && number >= 1 ? number : null;
}
