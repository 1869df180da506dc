import type { RouteMember } from '@idunn/authority';
import { type Clock, type Outcome, ok, refusal, refused } from '@idunn/kernel';
import { LIMITS } from '../limits.ts';

export interface Observation {
  readonly member: RouteMember;
  readonly status: number;
}

interface Expected {
  readonly route: string;
  readonly untilMs: number;
  state: 'registered' | 'sent' | Observation;
}

/**
 * Which member answered a request that the authority itself sent through the stable endpoint. A nonce counts only if it
 * was registered over the control socket for this route, and once: a client cannot make one up.
 */
export class Observations {
  readonly #clock: Clock;
  readonly #expected = new Map<string, Expected>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  register(route: string, nonce: string): Outcome<'registered'> {
    const now = this.#clock.monotonicMs();
    for (const [known, { untilMs }] of this.#expected) {
      if (untilMs > now) break; // Registered in order, so the rest is younger.
      this.#expected.delete(known);
    }
    if (this.#expected.size >= LIMITS.observations) {
      return refused(refusal('router-limit-reached', `${this.#expected.size} observations are open, the limit.`));
    }
    this.#expected.set(nonce, { route, untilMs: now + LIMITS.observationMs, state: 'registered' });
    return ok('registered');
  }

  /** Takes the nonce of a request that arrived; false when it is not to be believed. */
  begin(route: string, nonce: string): boolean {
    const expected = this.#expected.get(nonce);
    if (expected?.route !== route || expected.state !== 'registered') return false;
    expected.state = 'sent';
    return true;
  }

  note(nonce: string, observation: Observation): void {
    const expected = this.#expected.get(nonce);
    if (expected !== undefined) expected.state = observation;
  }

  /** What was seen under the nonce, which is worth nothing afterwards. */
  take(nonce: string): Observation | null {
    const state = this.#expected.get(nonce)?.state;
    this.#expected.delete(nonce);
    return typeof state === 'object' ? state : null;
  }
}
