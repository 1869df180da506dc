import type { RouteState } from '@idunn/authority';
import type { Timers } from '@idunn/kernel';
import { addressText, nameToAsk, reachable } from '../model/place.ts';
import { request } from '../node-http.ts';
import { OBSERVE_HEADER } from '../proxy/headers.ts';

/** Most bytes of an answer that are kept for a person to read. */
const BODY_BYTES = 2_048;

/** What a client of the stable route saw. */
export type Glimpse =
  /** `body`: the beginning of an answer other than 2xx, which says what is wrong (F5); `null` of a good one. */
  { readonly kind: 'answered'; readonly body: string | null } | { readonly kind: 'failed'; readonly because: string };

/** One real request through the stable endpoint, on a connection of its own. */
export function requestThroughRoute(
  { listen, names, certificates }: RouteState,
  path: string,
  nonce: string,
  withinMs: number,
  timers: Timers,
): Promise<Glimpse> {
  return new Promise((resolve) => {
    const name = nameToAsk(names);
    const headers = { Host: name ?? addressText(listen), [OBSERVE_HEADER]: nonce };
    const place = { host: reachable(listen.host), port: listen.port, path, headers, agent: false } as const;
    // Who answers is proven by the nonce; whether the world trusts the certificate is another question.
    const attempt =
      certificates.length === 0
        ? request(place)
        : process
            .getBuiltinModule('node:https')
            .request({ ...place, rejectUnauthorized: false, ...(name === undefined ? {} : { servername: name }) });
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
