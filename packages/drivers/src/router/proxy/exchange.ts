import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Code, Timers } from '@idunn/kernel';
import { LIMITS } from '../limits.ts';
import type { Log } from '../log.ts';
import type { Budget } from './budget.ts';
import { type Peer, type RequestHead, type ResponseHead, requestHead, responseHead, switchingHead } from './headers.ts';
import type { Connecting, Member, Open } from './member.ts';
import type { Observations } from './observations.ts';
import { refuse } from './refuse.ts';
import { pairs, RequestBody } from './request-body.ts';
import { targetOf } from './target.ts';
import { Tunnel } from './tunnel.ts';
import type { Departure, Waiting, WaitingLine } from './waiting-line.ts';

/** Methods that may be sent again when nobody knows whether the first one arrived (RFC 9110, 9.2.2). */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE']);

/** What an exchange needs of its route. */
export interface ExchangeRoute {
  readonly name: string;
  readonly timers: Timers;
  readonly log: Log;
  readonly observations: Observations;
  readonly budget: Budget;
  readonly line: WaitingLine;
  readonly holding: boolean;
  readonly switchPending: boolean;
  readonly holdMs: number;
  readonly idleMs: number;
  pick(): Member | null;
  has(member: Member): boolean;
  failed(): void;
  held(): void;
  departed(waitedMs: number): void;
}

/** What a client asks to go on with, on the connection that its request came by. */
export interface Upgrade {
  readonly protocol: string;
  /** Takes the connection away from the answer. */
  readonly take: () => Socket;
}

/**
 * One client request and its answer, streamed both ways. Tied to no member before it is sent, and to one while it is.
 */
export class Exchange implements Open {
  readonly #route: ExchangeRoute;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #method: string;
  readonly #head: RequestHead;
  readonly #body: RequestBody;
  readonly #nonce: string | null;
  readonly #upgrade: Upgrade | null;
  #tunnel: Tunnel | null = null;
  #member: Member | null = null;
  #upstream: ClientRequest | null = null;
  #answer: IncomingMessage | null = null;
  #eventStream = false;
  #waiting: Waiting | null = null;
  #withdrawAnswerTimer: (() => void) | null = null;
  #triedFresh = false;
  #sentAgain = false;
  #waitedMs = 0;
  #over = false;

  constructor(
    route: ExchangeRoute,
    request: IncomingMessage,
    response: ServerResponse,
    peer: Peer,
    upgrade: Upgrade | null,
  ) {
    this.#route = route;
    this.#upgrade = upgrade;
    this.#request = request;
    this.#response = response;
    this.#method = request.method ?? 'GET';
    const port = request.socket.localPort ?? 0;
    this.#head = requestHead(this.#method, request.rawHeaders, peer, port, upgrade?.protocol);
    this.#body = new RequestBody(request, this.#head.hasBody, route.budget);
    const { nonce } = this.#head;
    this.#nonce = nonce !== null && route.observations.begin(route.name, nonce) ? nonce : null;
    response.on('close', () => this.#close());
    response.on('error', () => undefined); // The client has gone; `close` follows.
  }

  /** Waits for the switch that is under way, within the limits of the route. */
  hold(): void {
    const length = Number(this.#request.headers['content-length'] ?? LIMITS.bufferedBodyBytes);
    const body = this.#head.hasBody ? Math.min(length, LIMITS.bufferedBodyBytes) : 0;
    const entered = this.#wait(this.#head.bytes + body, this.#patienceMs, (departure) => {
      if (departure === 'expired') this.#refuse(503, 'request-hold-expired');
      else this.forward();
    });
    if (entered === 'full') this.#refuse(503, 'request-hold-full');
  }

  /** Sends the request to the member whose turn it is. */
  forward(connecting: Connecting = this.#upgrade === null ? 'pooled' : 'tunnel'): void {
    const member = this.#route.pick();
    if (member === null) return this.#refuse(503, 'route-without-member');
    let upstream: ClientRequest;
    try {
      upstream = member.request(this.#method, targetOf(this.#request) ?? '/', this.#head.headers, connecting);
    } catch {
      return this.#refuse(400, 'request-unforwardable');
    }
    this.#member = member;
    this.#upstream = upstream;
    member.begin(this);
    upstream.on('response', (answer) => this.#answered(answer));
    upstream.on('upgrade', (answer, socket, head) => this.#upgraded(answer, socket, head));
    upstream.on('information', (information) => this.#inform(information));
    upstream.on('error', (error) => this.#failed(upstream, error));
    this.#withdrawAnswerTimer = this.#route.timers.after(LIMITS.answerMs, () => this.#late());
    this.#body.attach(upstream);
  }

  /** An event stream ends whole, so that its client comes again at once; any other answer may end by itself. */
  notice(): void {
    if (this.#tunnel !== null) return this.#tunnel.notice();
    if (!this.#eventStream || this.#answer === null) return;
    this.#response.end();
    this.#leaveMember();
  }

  /** The end of the member's drain. */
  cut(): void {
    if (this.#tunnel !== null) return this.#tunnel.cut();
    if (this.#waiting !== null) return this.#leaveMember(); // Rejected before effect: it waits on for the new member.
    if (!this.#response.headersSent) this.#refuse(503, 'request-cut-at-drain');
    else this.#response.destroy();
    this.#leaveMember();
  }

  #answered(answer: IncomingMessage): void {
    this.#withdrawAnswerTimer?.();
    this.#answer = answer;
    answer.on('error', () => this.#broken(answer));
    const head = responseHead(answer.rawHeaders);
    const rejected = answer.statusCode === 503 && head.rejectedBeforeEffect;
    if (rejected && !this.#sentAgain && this.#body.replayable) return this.#rejected(answer, head);
    if (rejected) this.#route.failed();
    this.#relay(answer, head);
  }

  /** The member goes on with the protocol that was asked for: from here on bytes pass, and stay with this member. */
  #upgraded(answer: IncomingMessage, backend: Socket, head: Buffer): void {
    this.#withdrawAnswerTimer?.();
    const { upgrade } = answer.headers;
    if (this.#upgrade === null || this.#over || upgrade === undefined) {
      backend.destroy();
      return this.#refuse(502, 'backend-answer-lost');
    }
    const client = this.#upgrade.take();
    client.write(switchingHead(answer.statusMessage ?? '', answer.rawHeaders, upgrade), 'latin1');
    if (head.length > 0) backend.unshift(head);
    const speaks = upgrade.toLowerCase() === 'websocket' ? 'websocket' : 'anything';
    const ended = (): void => {
      this.#upstream = null;
      this.#close();
    };
    this.#tunnel = new Tunnel({ client, backend, speaks, idleMs: this.#route.idleMs, ended });
  }

  /** The member did nothing: the request goes once more, to the new member (never twice). */
  #rejected(answer: IncomingMessage, head: ResponseHead): void {
    this.#body.detach();
    if (this.#member !== null && !this.#route.holding && !this.#route.has(this.#member)) return this.#sendAgain();
    const passThrough = (): void => {
      if (this.#answer === null) return this.#refuse(503, 'request-hold-expired'); // Its member has gone meanwhile.
      this.#route.failed();
      this.#relay(answer, head);
    };
    const entered = this.#wait(this.#head.bytes, this.#switchWaitMs(), (departure) => {
      if (departure === 'expired') passThrough();
      else this.#sendAgain();
    });
    if (entered === 'full') passThrough();
  }

  /** What is left of the time that a request may be held in all, however often it waits. */
  get #patienceMs(): number {
    return Math.max(0, this.#route.holdMs - this.#waitedMs);
  }

  #switchWaitMs(): number {
    return this.#route.switchPending ? this.#patienceMs : Math.min(LIMITS.rejectedWaitMs, this.#patienceMs);
  }

  #sendAgain(): void {
    this.#sentAgain = true;
    this.#leaveMember();
    this.forward();
  }

  #relay(answer: IncomingMessage, head: ResponseHead): void {
    const response = this.#response;
    const status = answer.statusCode ?? 502;
    this.#body.forget();
    this.#eventStream = head.eventStream;
    if (this.#nonce !== null && this.#member !== null) {
      this.#route.observations.note(this.#nonce, { member: this.#member.identity, status });
    }
    try {
      response.writeHead(status, answer.statusMessage, head.headers);
    } catch {
      return this.#refuse(502, 'backend-answer-lost');
    }
    let begun = false;
    answer.on('data', (chunk: Buffer) => {
      begun = true;
      if (!response.write(chunk)) answer.pause();
    });
    response.on('drain', () => answer.resume());
    answer.on('end', () => {
      begun = true;
      if (answer.rawTrailers.length > 0) response.addTrailers(pairs(answer.rawTrailers));
      response.end();
      this.#leaveMember();
    });
    // The header does not wait for a body that is slow to come.
    setImmediate(() => {
      if (!begun && !this.#over) response.flushHeaders();
    });
  }

  /** The answer broke off; the client must see that it is not whole. */
  #broken(answer: IncomingMessage): void {
    if (answer !== this.#answer) return;
    // A rejection whose body is lost is still a rejection: the request waits on.
    if (this.#waiting === null) this.#response.destroy();
    else this.#leaveMember();
  }

  /** The connection failed before any byte of an answer. */
  #failed(upstream: ClientRequest, error: NodeJS.ErrnoException): void {
    if (upstream !== this.#upstream || this.#answer !== null || this.#over) return;
    const unsent = error.syscall === 'connect';
    this.#leaveMember();
    this.#body.detach();
    // The classical race: the backend closed an idle connection just as the request was put on it.
    const stale = upstream.reusedSocket && IDEMPOTENT.has(this.#method);
    if (stale && !this.#triedFresh && this.#body.replayable) {
      this.#triedFresh = true;
      return this.forward('fresh');
    }
    const code = unsent ? 'backend-unreachable' : 'backend-answer-lost';
    this.#route.log.write(code, { route: this.#route.name, error: error.code ?? error.message });
    if (!unsent || this.#sentAgain || !this.#body.replayable || !this.#route.switchPending)
      return this.#refuse(502, code);
    const entered = this.#wait(this.#head.bytes, this.#switchWaitMs(), (departure) => {
      if (departure === 'expired') this.#refuse(502, code);
      else this.#sendAgain();
    });
    if (entered === 'full') this.#refuse(502, code);
  }

  #late(): void {
    this.#refuse(504, 'backend-answer-late');
    this.#leaveMember();
  }

  #inform(information: { readonly statusCode: number; readonly headers: NodeJS.Dict<string | string[]> }): void {
    if (this.#request.httpVersionMinor === 0 || this.#response.headersSent) return;
    const { link } = information.headers;
    if (information.statusCode === 100) this.#response.writeContinue();
    else if (information.statusCode === 102) this.#response.writeProcessing();
    else if (information.statusCode === 103 && link !== undefined) this.#response.writeEarlyHints({ link });
  }

  #wait(bytes: number, withinMs: number, go: (departure: Departure) => void): 'waiting' | 'full' {
    const waiting: Waiting = {
      bytes,
      withinMs,
      depart: (departure, waitedMs) => {
        this.#waiting = null;
        this.#waitedMs += waitedMs;
        this.#route.departed(this.#waitedMs);
        go(departure);
      },
    };
    const entered = this.#route.line.enter(waiting);
    if (entered === 'full') return entered;
    this.#waiting = waiting;
    this.#route.held();
    return entered;
  }

  #refuse(status: number, code: Code): void {
    this.#route.failed();
    refuse(this.#request, this.#response, status, code);
  }

  /** Done with this member, whatever state its answer is in. */
  #leaveMember(): void {
    this.#withdrawAnswerTimer?.();
    const upstream = this.#upstream;
    const answer = this.#answer;
    this.#upstream = null;
    this.#answer = null;
    if (upstream !== null && !(answer?.complete && upstream.writableEnded)) discard(upstream, answer);
    this.#member?.end(this);
    this.#member = null;
  }

  /** The client has its whole answer, or has gone. */
  #close(): void {
    this.#over = true;
    if (this.#waiting !== null) this.#route.line.leave(this.#waiting);
    this.#leaveMember();
    this.#body.drop();
  }
}

/**
 * Gives a backend request up. One that was sent whole and answered shortly is read out, which spares its connection.
 */
function discard(upstream: ClientRequest, answer: IncomingMessage | null): void {
  const length = Number(answer?.headers['content-length'] ?? Number.POSITIVE_INFINITY);
  if (answer !== null && upstream.writableFinished && length <= LIMITS.bufferedBodyBytes) answer.resume();
  else upstream.destroy();
}
