import { decideDisclosure, type Standing, verdictOf, verdictUntilMs } from '../decisions/disclosure.ts';
import type { IncidentCode } from '../model/incident-code.ts';
import type { TargetActor } from './actor.ts';
import type { EngineCore } from './core.ts';

/** How often what was missed is looked at while nobody tells of it. */
const LOOK_AGAIN_MS = 1_000;

/**
 * What the observer has judged of all that is admitted since its link came up. Until it has, or the time for it is
 * over, nothing that changes the graph goes on; what it never judged is an incident of its target.
 */
export class VerdictWatch {
  readonly #core: EngineCore;
  readonly #actors: () => Iterable<TargetActor>;
  /** Monotonic milliseconds; `null` while the link is down, and its loss is all that can be said. */
  #linkedAtMs: number | null;
  /** Targets of which the observer has said something on this link. */
  readonly #judged = new Set<string>();
  /** Targets that are shown to be without a verdict. */
  #missing: ReadonlySet<string> = new Set();
  #isDue = false;
  #looking: Promise<void> | null = null;
  #cancelTimer: (() => void) | null = null;

  constructor(core: EngineCore, actors: () => Iterable<TargetActor>) {
    this.#core = core;
    this.#actors = actors;
    this.#linkedAtMs = this.#sinceWhen();
  }

  /** A link that stood before the engine did tells of it no more, and of a target that nobody hears nothing. */
  start(): void {
    this.#linkedAtMs = this.#sinceWhen(this.#linkedAtMs);
    this.look();
  }

  /** When the link came up as far as is known, if it stands now. */
  #sinceWhen(knownMs: number | null = null): number | null {
    const { links, clock } = this.#core.ports;
    const standing = links?.observer?.standing().kind ?? 'up';
    return standing === 'up' ? (knownMs ?? clock.monotonicMs()) : null;
  }

  link(state: 'up' | 'down'): void {
    this.#judged.clear();
    this.#linkedAtMs = state === 'up' ? this.#core.ports.clock.monotonicMs() : null;
    this.look();
  }

  /** The observer said something of a target. */
  heard(target: string): void {
    if (!this.#judged.has(target)) this.look();
  }

  /** What stands and was not judged yet. The observer's own target is judged by nobody else, and waits for nobody. */
  async standing(): Promise<readonly Standing[]> {
    const found = await this.#unjudged();
    return found.map(({ standing }) => standing);
  }

  look(): void {
    this.#isDue = true;
    if (this.#core.stopped || this.#looking !== null) return;
    this.#looking = this.#look()
      .catch((fault: unknown) => this.#core.fault(fault, 'observer'))
      .finally(() => {
        this.#looking = null;
        if (this.#isDue) this.look();
      });
  }

  stop(): void {
    this.#cancelTimer?.();
  }

  async #look(): Promise<void> {
    this.#isDue = false;
    const unjudged = await this.#unjudged();
    if (this.#core.stopped) return;
    const nowMs = this.#core.ports.clock.monotonicMs();
    const { awaited, missing } = decideDisclosure(
      nowMs,
      unjudged.map(({ standing }) => standing),
    );
    this.#show(new Map(unjudged.filter(({ standing }) => missing.includes(standing)).map((one) => [one.target, one])));
    // Whoever waited for what was said, or for it to be missed, goes on.
    if (awaited.length === 0) for (const actor of this.#actors()) if (actor.atDoor) actor.wake();
    const dueMs = awaited.map(({ untilMs }) => untilMs);
    if (missing.length > 0) dueMs.push(nowMs + LOOK_AGAIN_MS);
    this.#cancelTimer?.();
    this.#cancelTimer =
      dueMs.length === 0
        ? null
        : this.#core.ports.timers.after(Math.max(1, Math.min(...dueMs) - nowMs), () => this.look());
  }

  async #unjudged(): Promise<readonly { readonly target: string; readonly standing: Standing }[]> {
    const { ports, library, witness } = this.#core;
    const linkedAtMs = this.#linkedAtMs;
    const found: { target: string; standing: Standing }[] = [];
    if (linkedAtMs === null) return found;
    for (const actor of this.#actors()) {
      const { target } = actor;
      if (this.#judged.has(target) || target === witness.options.observerTarget) continue;
      const body = actor.standing;
      if (body === null) continue;
      const { activation } = body.document;
      const verdict = verdictOf(ports.observerFor(target).read(body.incarnation), activation);
      // What was admitted on this link was Ready on it.
      const { bootId, monotonicMs } = body.admittedAt;
      const isNew = bootId === ports.clock.bootId && monotonicMs >= linkedAtMs;
      if (isNew || verdict.kind === 'seen') this.#judged.add(target);
      else {
        const plan = library.planAtHand(body.plan) ?? (await library.plan(body.plan));
        if (this.#linkedAtMs !== linkedAtMs) return this.#unjudged();
        if (plan === null) continue;
        const untilMs = verdictUntilMs(linkedAtMs, plan.health);
        found.push({ target, standing: { incarnation: body.incarnation, activation, verdict, untilMs } });
      }
    }
    return found;
  }

  #show(missing: ReadonlyMap<string, { readonly standing: Standing }>): void {
    for (const target of new Set([...this.#missing, ...missing.keys()])) {
      const one = missing.get(target)?.standing;
      const because = one?.verdict.kind === 'unknown' ? one.verdict.because : '';
      const causes: readonly [IncidentCode, string][] =
        one === undefined ? [] : [['verdict-missing', `${one.incarnation}: ${because}`]];
      this.#core.incidents.report(target, new Map(causes), 'verdicts');
    }
    this.#missing = new Set(missing.keys());
  }
}
