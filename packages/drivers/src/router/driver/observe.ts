import { request } from 'node:http';
import type { RouteState } from '@idunn/authority';
import type { Timers } from '@idunn/kernel';
import { addressText } from '../model/snapshot.ts';
import { OBSERVE_HEADER } from '../proxy/headers.ts';

/** Where this machine reaches a listener that may listen everywhere. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}

/** One real request through the stable endpoint, on a connection of its own; `null`, or why there was no answer. */
export function requestThroughRoute(
  listen: RouteState['listen'],
  path: string,
  nonce: string,
  withinMs: number,
  timers: Timers,
): Promise<string | null> {
  return new Promise((resolve) => {
    const headers = { Host: addressText(listen), [OBSERVE_HEADER]: nonce };
    const attempt = request({ host: reachable(listen.host), port: listen.port, path, headers, agent: false });
    const withdraw = timers.after(withinMs, () => attempt.destroy(new Error(`no answer within ${withinMs} ms`)));
    attempt.on('response', (answer) => {
      withdraw();
      answer.on('error', () => undefined);
      attempt.destroy(); // The header is all that is wanted.
      resolve(null);
    });
    attempt.on('error', (error) => {
      withdraw();
      resolve(error.message);
    });
    attempt.end();
  });
}
