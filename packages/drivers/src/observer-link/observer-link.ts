import { connect, type Socket } from 'node:net';
import type { Correlation, LinkPort, ObserverEvent, ObserverPort } from '@idunn/authority';
import {
  absent,
  type Clock,
  type Header,
  type Ids,
  isCode,
  type Outcome,
  ok,
  refusal,
  refused,
  type SigningKey,
  seen,
  type Timers,
  unknown,
  verificationKey,
} from '@idunn/kernel';
import { type IncarnationKey, type ObserverRequest, SILENCE_MS } from '@idunn/readiness';
import { Correlations } from './correlations.ts';
import { MAX_REQUESTS, RECONNECT_FROM_MS, RECONNECT_TO_MS, REQUEST_LIMIT_MS } from './limits.ts';
import { type ObserverSelf, type ObserverWord, Session } from './session.ts';

export interface ObserverLinkOptions {
  /** The observer's stable `link.sock`. */
  readonly socket: string;
  readonly audience: Header['audience'];
  readonly authority: SigningKey;
  /** The trust anchor of the observer's own target: its raw Ed25519 public key, base64. */
  readonly observerPublicKey: string;
  /** The service signers of a target, newest first: what the observer is to trust. */
  readonly anchors: (target: string) => readonly { readonly keyId: string; readonly publicKey: string }[];
  readonly clock: Clock;
  readonly timers: Timers;
  readonly ids: Ids;
  readonly log: (text: string) => void;
}

export interface ObserverLink extends ObserverPort, LinkPort {
  /** The observer that is linked now, by its own signed word; `null` while the link is down. */
  peer(): ObserverSelf | null;
  /** The observer is known to be there: a wait before the next attempt ends now. */
  hurry(): void;
  close(): void;
}

interface Waiting {
  readonly request: ObserverRequest;
  readonly answer: (outcome: Outcome<'acknowledged'>) => void;
  readonly cancelLimit: () => void;
}

/**
 * The link to the observer program. It reconnects for ever; after each connection the observer tells everything it
 * holds, and only then is the link up. While it is down every `read` is unknown (I10) and every request is refused at
 * once as `observer-unreachable`; nothing is published again by itself.
 */
export function createObserverLink(options: ObserverLinkOptions): ObserverLink {
  const { clock, timers, ids } = options;
  const observer = verificationKey(options.observerPublicKey);
  const correlations = new Correlations();
  const waiting = new Map<string, Waiting>();
  const listeners: ((event: ObserverEvent) => void)[] = [];
  let link: { socket: Socket; session: Session; self: ObserverSelf | null; up: boolean } | null = null;
  let waitMs = RECONNECT_FROM_MS;
  let cancelReconnect: (() => void) | null = null;
  let cancelSilence: (() => void) | null = null;
  let heardAtMs = clock.monotonicMs();
  let closed = false;
  /** Why it is not linked now, once an attempt or a link has ended. */
  let loss: string | null = null;
  const watchers: (() => void)[] = [];

  const stands = (why: string | null): void => {
    loss = why;
    for (const tell of watchers) tell();
  };
  const emit = (event: ObserverEvent): void => {
    for (const listener of listeners) listener(event);
  };
  const tell = (correlation: Correlation | null): void => {
    if (correlation !== null && link?.up) emit({ kind: 'correlation', correlation });
  };

  function dial(): void {
    const socket = connect(options.socket);
    let because = 'the connection to the observer ended';
    socket.on('error', ({ message }) => {
      because = message; // `close` follows.
    });
    socket.once('connect', () => {
      heardAtMs = clock.monotonicMs();
      const session = new Session(socket, { ...options, observer }, (word) => hear(socket, word));
      link = { socket, session, self: null, up: false };
      watchSilence(socket);
    });
    socket.once('close', () => lost(socket, because));
  }

  /** A link on which even the heartbeat is missing is down, whatever the socket says (I10). */
  function watchSilence(socket: Socket): void {
    const leftMs = heardAtMs + SILENCE_MS - clock.monotonicMs();
    if (leftMs <= 0) return void socket.destroy(new Error(`the observer has said nothing for ${SILENCE_MS} ms`));
    cancelSilence = timers.after(leftMs, () => watchSilence(socket));
  }

  function lost(socket: Socket, because: string): void {
    if (link?.socket === socket) {
      const wasUp = link.up;
      link = null;
      cancelSilence?.();
      correlations.clear();
      for (const [requestId, { answer }] of waiting) {
        settle(requestId);
        answer(unreachable('the link broke before the observer answered'));
      }
      if (wasUp) emit({ kind: 'link', state: 'down' });
    }
    if (closed) return;
    stands(because);
    cancelReconnect = timers.after(waitMs, () => {
      cancelReconnect = null;
      dial();
    });
    waitMs = Math.min(waitMs * 2, RECONNECT_TO_MS);
  }

  function hear(socket: Socket, word: ObserverWord): void {
    if (link?.socket !== socket) return;
    const nowMs = clock.monotonicMs();
    heardAtMs = nowMs;
    switch (word.kind) {
      case 'welcome':
        link.self = word.self;
        waitMs = RECONNECT_FROM_MS;
        return;
      case 'statement':
        return tell(correlations.present(word.statement, nowMs));
      case 'receipt':
        return tell(correlations.ready(word, nowMs));
      case 'standings':
        for (const standing of word.standings) tell(correlations.standing(standing, nowMs));
        if (word.roster === 'roster-end' && !link.up) {
          link.up = true;
          stands(null);
          emit({ kind: 'link', state: 'up' });
        }
        return;
      case 'ack':
        return acknowledge(word.requestId, word.refusal);
    }
  }

  function acknowledge(requestId: string, refusal: { code: string; reason: string } | null): void {
    const request = settle(requestId);
    if (request === null) return;
    if (refusal !== null) return request.answer(refusedBy(refusal));
    tell(correlations.acknowledged(request.request));
    request.answer(ok('acknowledged'));
  }

  function settle(requestId: string): Waiting | null {
    const request = waiting.get(requestId) ?? null;
    waiting.delete(requestId);
    request?.cancelLimit();
    return request;
  }

  function ask(request: ObserverRequest): Promise<Outcome<'acknowledged'>> {
    const { session } = link?.up ? link : { session: null };
    if (session === null) return Promise.resolve(unreachable('there is no link to it'));
    if (waiting.size >= MAX_REQUESTS) {
      return Promise.resolve(refused(refusal('observer-busy', `${MAX_REQUESTS} requests wait for the observer.`)));
    }
    const requestId = ids.fresh('request');
    return new Promise((answer) => {
      const cancelLimit = timers.after(REQUEST_LIMIT_MS, () => {
        settle(requestId);
        answer(unreachable(`it did not answer a ${request.kind} within ${REQUEST_LIMIT_MS} ms`));
      });
      waiting.set(requestId, { request, answer, cancelLimit });
      session.request(requestId, request);
    });
  }

  dial();

  return {
    async publishExpected(incarnation, expected) {
      const { target } = expected;
      const keys = options.anchors(target).map(({ keyId, publicKey }) => ({ keyId, publicKey }));
      // In this order on one link: what the Expected is judged by is there when it comes.
      const [anchored, published] = await Promise.all([
        ask({ kind: 'anchor', target, keys }),
        ask({ kind: 'publish-expected', incarnation, expected }),
      ]);
      return anchored.ok ? published : anchored;
    },
    publishActivation: (activation, observed) => ask({ kind: 'publish-activation', activation, observed }),
    demote: (incarnation, activation) => ask({ kind: 'demote', incarnation, activation }),
    withdraw: (incarnation) => ask({ kind: 'withdraw', incarnation }),
    read(key: IncarnationKey) {
      if (!link?.up) return unknown('the link to the observer is down');
      const correlation = correlations.get(key);
      return correlation === null ? absent : seen(correlation);
    },
    subscribe(listener) {
      listeners.push(listener);
    },
    standing() {
      if (link?.up) return { kind: 'up' };
      return loss === null ? { kind: 'trying' } : { kind: 'down', because: loss };
    },
    onStanding: (listener) => void watchers.push(listener),
    peer: () => (link?.up ? link.self : null),
    hurry() {
      if (cancelReconnect === null || closed) return;
      cancelReconnect();
      cancelReconnect = null;
      waitMs = RECONNECT_FROM_MS;
      dial();
    },
    close() {
      closed = true;
      cancelReconnect?.();
      cancelSilence?.();
      link?.socket.destroy();
    },
  };
}

const unreachable = (because: string): Outcome<never> =>
  refused(refusal('observer-unreachable', `The observer cannot be asked: ${because}.`));

/** The observer's own code where this version knows it. */
const refusedBy = ({ code, reason }: { code: string; reason: string }): Outcome<never> =>
  refused(isCode(code) ? refusal(code, reason) : refusal('observer-refused', `${code}: ${reason}`));
