import { once } from 'node:events';
import { createServer } from 'node:http';
import { createApi } from './api.js';
import { GroupCommit } from './group-commit.js';
import { Streams } from './streams.js';

/** Longer than any proxy keeps an idle connection, so that the proxy is the one who ends it. */
const KEEP_ALIVE_MS = 65_000;

/**
 * The world's server, not yet listening.
 *
 * @param {import('./journal.js').Journal} journal
 * @param {{
 *   epoch: () => number | null,
 *   version: () => object,
 *   page: string,
 *   isNotWriter: (error: unknown) => boolean,
 * }} more
 */
export function createWorld(journal, { epoch, version, page, isNotWriter }) {
  const streams = new Streams(journal);
  const commits = new GroupCommit((drafts) => journal.append(drafts, epoch() ?? 0));
  let stopping = false;
  const api = createApi({ journal, commits, streams, page, version, isNotWriter, isStopping: () => stopping });
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    response.once('close', () => {
      if (stopping) setImmediate(() => server.closeIdleConnections());
    });
    api(request, response);
  });

  /** Finishes the open requests and resolves as soon as the last connection is gone. */
  async function stop() {
    stopping = true;
    const closed = once(server, 'close');
    server.close(); // Also ends the connections that are idle now; the others end with their answer.
    streams.end();
    await closed;
  }

  return { server, stop };
}
