import { write } from './life.ts';
import type { Process } from './process.ts';
import type { Route, World } from './world.ts';

/** How often a client posts, and how long it waits before it tries the same request again. */
const EVERY_MS = 7;
const AGAIN_MS = 11;
/** How long a program that compares no row takes to answer what it has written. */
const ANSWER_MS = 15;
/** Once nothing new is posted there is no hurry: a restart may be minutes away. */
const PATIENT_MS = 1_000;
/** Requests that the clients have under way at once. */
const UNANSWERED_LIMIT = 12;

/**
 * Clients that post through the stable route and repeat what was not acknowledged: nothing acknowledged may be lost.
 */
export class Clients {
  readonly #world: World;
  readonly #route: string;
  #next = 1;
  #stopped = false;
  readonly unanswered = new Set<number>();

  constructor(world: World, route: string) {
    this.#world = world;
    this.#route = route;
  }

  begin(): void {
    const post = (): void => {
      if (this.#stopped) return;
      if (this.unanswered.size < UNANSWERED_LIMIT) {
        const request = this.#next;
        this.#next += 1;
        this.unanswered.add(request);
        this.#try(request);
      }
      this.#world.pace.after(EVERY_MS, post);
    };
    post();
  }

  /** No new requests; those under way are repeated until they are acknowledged. */
  stop(): void {
    this.#stopped = true;
  }

  #try(request: number): void {
    const world = this.#world;
    const route = world.route(this.#route);
    if (route === undefined) return this.#later(request);
    if (world.time.monotonicMs < route.holdUntilMs) {
      route.report.held += 1;
      route.held.push({ request, since: world.time.nowMs });
      return this.#hold(route, request, route.holdUntilMs);
    }
    this.#serve(route, request);
  }

  /** The proxy measures the term by the clock of its machine, which is Idunn's as well. */
  #hold(route: Route, request: number, untilMs: number): void {
    const { time } = this.#world;
    const leftMs = untilMs - time.monotonicMs;
    if (leftMs <= 0) return this.#unhold(route, request);
    time.aside(leftMs, () => this.#hold(route, request, untilMs));
  }

  #unhold(route: Route, request: number): void {
    const at = route.held.findIndex((held) => held.request === request);
    const held = route.held[at];
    if (held === undefined) return;
    route.held.splice(at, 1);
    route.report.longestHoldMs = Math.max(route.report.longestHoldMs, this.#world.time.nowMs - held.since);
    this.#serve(route, request);
  }

  /** The proxy let its held requests go. */
  released(route: Route): void {
    const requests = route.held.map(({ request }) => request);
    for (const request of requests) this.#unhold(route, request);
  }

  #serve(route: Route, request: number): void {
    const world = this.#world;
    const member = route.members[0];
    const process = member === undefined ? undefined : world.processes.get(member.activation);
    if (process === undefined || !process.alive) {
      route.report.failed += 1;
      return this.#later(request);
    }
    process.open += 1;
    world.time.aside(1, () => {
      const written = write(world, process, request);
      // A program that compares no row answers a moment after it wrote; one that is ended in between never does.
      if (written && process.gate === 'passed') return this.#answerLater(process, request);
      process.open -= 1;
      if (!written) return this.#later(request);
      this.#answered(process, request);
    });
  }

  #answerLater(process: Process, request: number): void {
    process.unanswered += 1;
    this.#world.time.aside(ANSWER_MS, () => {
      process.open -= 1;
      process.unanswered -= 1;
      if (process.alive) this.#answered(process, request);
      // It may have been written, and nobody can know: it is not posted again, and nothing is owed.
      else this.unanswered.delete(request);
    });
  }

  #answered(process: Process, request: number): void {
    this.#world.ledger.note({ kind: 'acked', request, activation: process.id });
    this.unanswered.delete(request);
  }

  #later(request: number): void {
    this.#world.pace.after(this.#stopped ? PATIENT_MS : AGAIN_MS, () => this.#try(request));
  }
}
