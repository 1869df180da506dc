import { absent, type Evidence, type Moment, type Mutation, moment, StoreFault, unknown } from '@idunn/kernel';
import type { ObservedRuntime } from '@idunn/readiness';
import type { Plan } from '@idunn/release';
import { recordOfAdmission } from '../decisions/continuity-admission.ts';
import type { Concern, ContinuityDecision, Rest } from '../decisions/continuity-decision.ts';
import { type ContinuityEvidence, NOT_LOOKED, onDuty } from '../decisions/continuity-evidence.ts';
import { type Answered, type Effect, effectKey } from '../decisions/effects.ts';
import { incumbentsOf } from '../decisions/lease-at-hand.ts';
import type { Body } from '../records/body.ts';
import { type ContinuityRecord, noContinuity } from '../records/continuity.ts';
import type { TargetRecord } from '../records/target.ts';
import type { TransactionRecord } from '../records/transaction.ts';
import { continuityHistory } from './continuity-history.ts';
import type { EngineCore } from './core.ts';
import { type Held, put } from './journal.ts';
import { type Begun, begun } from './lane.ts';
import { look } from './look.ts';
import { perform } from './perform.ts';
import { holder, isIssued, NOTHING_READ } from './witness.ts';

/** Steps that one turn may take. */
const STEPS_PER_TURN = 64;
/** Answers that are remembered; the oldest are dropped beyond it. */
const ANSWERS_LIMIT = 64;

/** Concerns for which the rows are read anew. */
const OF_ROWS: ReadonlySet<string> = new Set(['lease-row-unexpected', 'lease-row-unreadable']);
type Lease = Pick<ContinuityEvidence, 'rows' | 'holder'>;
const LEASE_NOT_READ: Lease = { rows: NOT_LOOKED, holder: NOTHING_READ.holder };

/** What a vigil knows beside its record, as plain values; a crash takes it. */
export interface VigilMemory {
  readonly process: Evidence<ObservedRuntime>;
  readonly heard: { readonly activation: string; readonly sinceMs: number } | null;
  readonly answers: readonly (readonly [string, Answered])[];
  readonly running: readonly (readonly [string, Effect])[];
  readonly rest: Rest | null;
}

/** The actor that a vigil belongs to. */
export interface VigilHost {
  readonly target: string;
  readonly record: Held<TargetRecord> | null;
  readonly head: TransactionRecord | null;
  wake(): void;
  invalidate(): void;
  began(record: Held<TargetRecord>, transaction: Held<TransactionRecord>): void;
  /** What continuity is concerned about now, all of it; what is not named any more has closed. */
  concerned(concerns: readonly Concern[]): void;
}

/**
 * Continuity of one target: a lane without a transaction, which begins one each time. It runs in its actor's turn, so
 * nothing of the target is written beside it. What it remembers here a crash may take; its record may not.
 */
export class Vigil {
  readonly #core: EngineCore;
  readonly #host: VigilHost;
  #record: Held<ContinuityRecord> | null = null;
  #loaded = false;
  #process: Evidence<ObservedRuntime> = NOT_LOOKED;
  /** Rises with each look and each doubt: what a look saw that began before the last of them is not kept. */
  #asked = 0;
  #hold: ContinuityEvidence['hold'] = NOT_LOOKED;
  #lease: Lease = LEASE_NOT_READ;
  /** What was read and is read anew, since somebody else is named: it stands until another reading says more (I10). */
  #doubted: Lease | null = null;
  #route: ContinuityEvidence['route'] = NOT_LOOKED;
  #projected: ContinuityEvidence['projected'] = null;
  /** The activation that is listened to, and since when. */
  #heard: VigilMemory['heard'] = null;
  readonly #answers = new Map<string, Answered>();
  readonly #running = new Map<string, Begun>();
  #cancelTimer: (() => void) | null = null;
  #rest: { readonly decision: Rest; readonly since: Moment } | null = null;

  constructor(core: EngineCore, host: VigilHost) {
    this.#core = core;
    this.#host = host;
  }

  get memory(): VigilMemory {
    return {
      process: this.#process,
      heard: this.#heard,
      answers: [...this.#answers],
      running: [...this.#running].map(([key, { effect }]) => [key, effect]),
      rest: this.#rest?.decision ?? null,
    };
  }

  /** Goes on from what was known at a moment, with the same effects under way. */
  recall({ process, heard, answers, running, rest }: VigilMemory): void {
    this.#process = process;
    this.#heard = heard;
    for (const [key, answered] of answers) this.#answers.set(key, answered);
    for (const [key, effect] of running) this.#running.set(key, begun(effect));
    this.#rest = rest === null ? null : { decision: rest, since: moment(this.#core.ports.clock) };
  }

  /** Read at the start with all others; else it is read when it is first needed. */
  load(record: Held<ContinuityRecord> | null): void {
    this.#record = record;
    this.#loaded = true;
  }

  /** Looks at the process of what is on duty; it need not be looked at again until it is doubted. */
  async look(body: Body): Promise<Evidence<ObservedRuntime>> {
    this.#heardSince(body);
    this.#asked += 1;
    const asked = this.#asked;
    const process = await look(this.#core.ports, body);
    if (asked === this.#asked) this.#process = process;
    return process;
  }

  doubt(): void {
    this.#process = NOT_LOOKED;
    this.#asked += 1;
  }

  /** The observer is back: what it refused or did not hear is asked again at once. */
  linked(): void {
    for (const [key, { outcome }] of this.#answers) if (!outcome.ok) this.#answers.delete(key);
  }

  stop(): void {
    for (const { abort } of this.#running.values()) abort.abort();
    this.#cancelTimer?.();
  }

  /** Something of it is under way. */
  get acting(): boolean {
    return this.#running.size > 0;
  }

  /** What is on duty was seen to be gone. */
  get isGone(): boolean {
    return this.#process.kind === 'absent';
  }

  /** Charged attempts since the last long run of what is admitted. */
  get streak(): number {
    const target = this.#host.record?.value;
    if (this.#record === null || target === undefined) return 0;
    return recordOfAdmission(this.#record.value, target, moment(this.#core.ports.clock)).streak;
  }

  /** What it waits for before the next attempt; `null` while nothing is amiss. */
  get waiting(): {
    readonly wait: NonNullable<Rest['wait']>;
    readonly since: Moment;
    readonly attemptAtMs: number | null;
  } | null {
    const resting = this.#rest;
    if (resting === null || resting.decision.wait === null) return null;
    return { wait: resting.decision.wait, since: resting.since, attemptAtMs: resting.decision.attemptAtMs };
  }

  async turn(): Promise<void> {
    this.#hold = NOT_LOOKED;
    this.#route = NOT_LOOKED;
    this.#projected = null;
    for (let steps = 0; steps < STEPS_PER_TURN && !this.#core.stopped && this.#running.size === 0; steps += 1) {
      const target = this.#host.record?.value ?? null;
      const body = target === null ? null : onDuty(target);
      if (target === null || body === null) return this.#resting(null, []);
      // Whoever owns the target moves its lease: it is read anew once it is free.
      if (target.takenBy !== null) this.#forgetLease();
      if (!this.#loaded) this.load(await this.#core.journal.read('continuity', this.#host.target));
      const plan = this.#core.library.planAtHand(body.plan) ?? (await this.#core.library.plan(body.plan));
      if (plan === null) throw new Error(`the plan ${body.plan} is not recorded`);
      const evidence = this.#evidence(target, body, plan);
      const decision = this.#core.decideContinuity(evidence);
      if (!(await this.#follow(decision, evidence))) return;
    }
  }

  /** Answers whether there is more to decide now. */
  async #follow(decision: ContinuityDecision, evidence: ContinuityEvidence): Promise<boolean> {
    const { ports } = this.#core;
    switch (decision.kind) {
      case 'look': {
        const body = onDuty(evidence.target);
        if (decision.at === 'hold') this.#hold = await ports.freeze.readHold(this.#host.target);
        else if (decision.at === 'rows') await this.#lookAtRows(evidence);
        else if (decision.at === 'route') this.#route = await this.#readRoute(evidence);
        else if (decision.at === 'projected') this.#projected = await this.#readProjected(evidence);
        else if (body !== null) await this.look(body);
        return true;
      }
      case 'act':
        this.#act(decision.effect);
        return false;
      case 'persist':
        return this.#persist(decision, evidence);
      case 'rest':
        this.#resting(decision, decision.concerns);
        return false;
    }
  }

  #evidence(target: TargetRecord, body: Body, plan: Plan): ContinuityEvidence {
    const { ports } = this.#core;
    const { activation } = body.document;
    return {
      now: moment(ports.clock),
      fresh: { activation: ports.ids.fresh('act'), transaction: ports.ids.fresh('tx') },
      target,
      record: this.#record?.value ?? noContinuity(this.#host.target),
      plan,
      head: this.#host.head,
      process: this.#process,
      presence: ports.channel.presence(activation),
      word: ports.observerFor(this.#host.target).read(body.incarnation),
      hold: this.#hold,
      ...this.#lease,
      route: this.#route,
      projected: this.#projected,
      listened: this.#listened(body),
      answers: Object.fromEntries(this.#answers),
      running: [...this.#running.keys()],
    };
  }

  #forgetLease(): void {
    this.#lease = LEASE_NOT_READ;
    this.#doubted = null;
  }

  async #lookAtRows(evidence: ContinuityEvidence): Promise<void> {
    const before = this.#doubted;
    this.#doubted = null;
    const lease = await this.#readLease(evidence);
    this.#lease = lease.rows.kind === 'unknown' && before !== null ? before : lease;
  }

  /** Rows that could not be read are not asked for again and again: whoever needs them reads them. */
  async #readLease(e: ContinuityEvidence): Promise<Lease> {
    const { state } = e.plan;
    if (state === null) return { ...LEASE_NOT_READ, rows: unknown('it keeps no state') };
    try {
      const rows = await this.#core.ports.lease.read(state);
      const known = incumbentsOf(e).map(({ document }) => document.activation);
      return { rows, holder: await holder(this.#core, this.#host.target, known, rows) };
    } catch (fault) {
      return { ...LEASE_NOT_READ, rows: unknown(String(fault)) };
    }
  }

  async #readRoute({ plan }: ContinuityEvidence): Promise<ContinuityEvidence['route']> {
    if (plan.route === null) return absent;
    try {
      return await this.#core.ports.route.read(plan.route.name);
    } catch (fault) {
      return unknown(String(fault));
    }
  }

  async #readProjected({ word }: ContinuityEvidence): Promise<ContinuityEvidence['projected']> {
    const activation = word.kind === 'seen' ? word.value.activation : null;
    if (activation === null) return null;
    return { activation, issued: await isIssued(this.#core.journal, this.#host.target, activation) };
  }

  #heardSince(body: Body): number {
    const { activation } = body.document;
    if (this.#heard?.activation !== activation) {
      this.#heard = { activation, sinceMs: this.#core.ports.clock.monotonicMs() };
      this.#process = NOT_LOOKED;
      this.#forgetLease();
    }
    return this.#heard.sinceMs;
  }

  #listened(body: Body): ContinuityEvidence['listened'] {
    const { clock, channel } = this.#core.ports;
    const sinceMs = this.#heardSince(body);
    const spoken = channel.listened?.(body.document.activation) ?? null;
    if (spoken === null) return { sinceMs, untilMs: clock.monotonicMs() };
    return { sinceMs: Math.max(sinceMs, spoken.sinceMs), untilMs: spoken.untilMs };
  }

  async #persist(
    { record, begin }: Extract<ContinuityDecision, { kind: 'persist' }>,
    e: ContinuityEvidence,
  ): Promise<boolean> {
    const held = this.#host.record;
    if (held === null) return false;
    const { target } = this.#host;
    const mutations: Mutation[] = [put('continuity', target, record, this.#record?.generation ?? 'absent')];
    const next = begin === null ? null : { ...held.value, ...begin.target };
    if (begin !== null && next !== null) {
      mutations.push(
        put('target', target, next, held.generation),
        put('transaction', begin.transaction.id, begin.transaction, 'absent'),
      );
      const { activation } = begin;
      if (activation !== null) mutations.push(put('activation', activation.activation, activation, 'absent'));
    }
    const result = await this.#core.journal.commit(
      mutations,
      continuityHistory(target, this.#record?.value ?? null, record, begin, e.now),
    );
    if (result.kind === 'unknown') throw new StoreFault('store-write-failed', result.because);
    if (result.kind === 'conflict') {
      this.#loaded = false;
      this.#host.invalidate();
      return false;
    }
    const [own = 0, ofTarget = 0, ofTransaction = 0] = result.generations;
    this.#record = { value: record, generation: own };
    this.#forgetLease();
    if (begin === null || next === null) return true;
    this.#resting(null, []);
    this.#host.began({ value: next, generation: ofTarget }, { value: begin.transaction, generation: ofTransaction });
    return false;
  }

  #act(effect: Effect): void {
    const key = effectKey(effect);
    this.#running.set(key, begun(effect));
    void this.carryOut(key);
  }

  /** Carries out an effect that was begun. */
  async carryOut(key: string): Promise<void> {
    const now = this.#running.get(key);
    if (now === undefined) return;
    const { effect, abort } = now;
    const { ports, library, takenPorts } = this.#core;
    const { target } = this.#host;
    const attempts = (this.#answers.get(key)?.attempts ?? 0) + 1;
    const context = { ports, library, target, signal: abort.signal, progress: () => undefined, takenPorts };
    const outcome = await perform(context, effect);
    this.#running.delete(key);
    if (this.#core.stopped) return;
    this.#answers.delete(key);
    this.#answers.set(key, { effect, outcome, atMs: ports.clock.monotonicMs(), attempts });
    const oldest = this.#answers.keys().next();
    if (this.#answers.size > ANSWERS_LIMIT && oldest.done !== true) this.#answers.delete(oldest.value);
    if (effect.kind === 'end-process') this.doubt();
    this.#host.wake();
  }

  #resting(decision: Rest | null, concerns: readonly Concern[]): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#host.concerned(concerns);
    const { timers, clock } = this.#core.ports;
    const before = this.#rest;
    const since = before?.decision.wait?.what === decision?.wait?.what ? (before?.since ?? null) : null;
    this.#rest = decision === null ? null : { decision, since: since ?? moment(clock) };
    if (decision === null || decision.wakeAtMs === null) return;
    this.#cancelTimer = timers.after(Math.max(1, decision.wakeAtMs - clock.monotonicMs()), () => {
      this.#cancelTimer = null;
      // A process that could not be judged is looked at again; one that lives is told of by its death.
      if (this.#process.kind === 'unknown') this.doubt();
      if (concerns.some(({ code }) => OF_ROWS.has(code))) {
        this.#doubted = this.#lease;
        this.#lease = LEASE_NOT_READ;
      }
      this.#host.wake();
    });
  }
}
