import type { RefusalAnswer } from '../schemas/common.ts';
import type { EventAnswer } from '../schemas/event.ts';
import type { TransactionAnswer } from '../schemas/transaction.ts';
import { EventStreamParser } from './event-stream.ts';
import { pause } from './pause.ts';
import { open, readAnswer } from './request.ts';

/** What a follower is told. `snapshot` stands for everything that went before it. */
export type Followed =
  | { readonly kind: 'event'; readonly event: EventAnswer }
  | { readonly kind: 'snapshot'; readonly transaction: TransactionAnswer }
  /** The daemon does not answer, or refuses for now; it is asked again after `retryMs`. What runs goes on. */
  | { readonly kind: 'lost'; readonly refusal: RefusalAnswer; readonly retryMs: number };

const FIRST_RETRY_MS = 50;
const LAST_RETRY_MS = 2_000;

export interface FollowRequest {
  readonly socket: string;
  /** Narrow to one transaction, which also sends its snapshot first, or to one target. */
  readonly transaction?: string;
  readonly target?: string;
  readonly signal: AbortSignal;
}

/**
 * Events as they happen, over the death of the daemon: after a lost connection it asks again with Last-Event-ID, and a
 * daemon that no longer has those events sends a snapshot. Whatever else is answered is told as `lost` and asked again;
 * it ends when `signal` aborts.
 */
export async function* follow(request: FollowRequest): AsyncGenerator<Followed> {
  let last: string | null = null;
  let retryMs = FIRST_RETRY_MS;
  while (!request.signal.aborted) {
    const path = eventsPath(request);
    let refusal = lostRefusal(request.socket);
    const opened = await open({
      socket: request.socket,
      method: 'GET',
      path,
      headers: { accept: 'text/event-stream', ...(last === null ? {} : { 'last-event-id': last }) },
      signal: request.signal,
    });
    if (!opened.ok) refusal = opened.refusal;
    else if (opened.value.statusCode === 200) {
      retryMs = FIRST_RETRY_MS;
      const parser = new EventStreamParser();
      opened.value.setEncoding('utf8');
      try {
        for await (const chunk of opened.value as AsyncIterable<string>) {
          for (const message of parser.push(chunk)) {
            last = message.id ?? last;
            yield read(message.event, message.data);
          }
        }
      } catch {
        // The connection broke: the loop asks again from the last id.
      }
    } else {
      const answer = await readAnswer<never>({ socket: request.socket, path }, opened.value);
      if (!answer.ok) refusal = answer.refusal;
    }
    if (request.signal.aborted) return;
    yield { kind: 'lost', refusal, retryMs };
    await pause(retryMs, request.signal);
    retryMs = Math.min(retryMs * 2, LAST_RETRY_MS);
  }
}

const eventsPath = ({ transaction, target }: FollowRequest): string => {
  const query = new URLSearchParams();
  if (transaction !== undefined) query.set('transaction', transaction);
  if (target !== undefined) query.set('target', target);
  return `/v1/events?${query.toString()}`;
};

const read = (event: string, data: string): Followed =>
  event === 'snapshot'
    ? { kind: 'snapshot', transaction: JSON.parse(data) as TransactionAnswer }
    : { kind: 'event', event: JSON.parse(data) as EventAnswer };

const lostRefusal = (socket: string): RefusalAnswer => ({
  code: 'daemon-unreachable',
  reason: `the daemon closed the connection on ${socket}`,
  remedy: 'Run idunn daemon --detach.',
});
