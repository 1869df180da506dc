import type { RouteState } from '@idunn/authority';
import type { Timers } from '@idunn/kernel';
import { addressText } from '../model/snapshot.ts';
import { request } from '../node-http.ts';
import { OBSERVE_HEADER } from '../proxy/headers.ts';

/** Where this machine reaches a listener that may listen everywhere. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}

/** Most bytes of an answer that are kept for a person to read. */
const BODY_BYTES = 2_048;

/** What a client of the stable route saw. */
export type Glimpse =
  /** `body`: the beginning of an answer other than 2xx, which says what is wrong (F5); `null` of a good one. */
  { readonly kind: 'answered'; readonly body: string | null } | { readonly kind: 'failed'; readonly because: string };

/** One real request through the stable endpoint, on a connection of its own. */
export function requestThroughRoute(
  listen: RouteState['listen'],
  path: string,
  nonce: string,
  withinMs: number,
  timers: Timers,
): Promise<Glimpse> {
  return new Promise((resolve) => {
    const headers = { Host: addressText(listen), [OBSERVE_HEADER]: nonce };
    const attempt = request({ host: reachable(listen.host), port: listen.port, path, headers, agent: false });
    const withdraw = timers.after(withinMs, () => attempt.destroy(new Error(`no answer within ${withinMs} ms`)));
    const end = (glimpse: Glimpse): void => {
      withdraw();
      attempt.destroy();
      resolve(glimpse);
    };
    attempt.on('response', (answer) => {
      const status = answer.statusCode ?? 0;
      if (status >= 200 && status < 300) return end({ kind: 'answered', body: null });
      let body = Buffer.alloc(0);
      const tell = (): void => end({ kind: 'answered', body: body.toString('utf8') });
      answer.on('data', (chunk: Buffer) => {
        body = Buffer.concat([body, chunk]).subarray(0, BODY_BYTES);
        if (body.length === BODY_BYTES) tell();
      });
      answer.on('end', tell);
      answer.on('error', tell); // What came until then was said.
    });
    attempt.on('error', (error) => end({ kind: 'failed', because: error.message }));
    attempt.end();
  });
}
