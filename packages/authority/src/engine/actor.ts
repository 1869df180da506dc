import { type Mutation, moment, ok, StoreFault } from '@idunn/kernel';
import type { Concern } from '../decisions/continuity-decision.ts';
import type { Act, Persist, Wait } from '../decisions/decision.ts';
import { effectKey } from '../decisions/effects.ts';
import { hiddenBy, type IncidentCode } from '../model/incident-code.ts';
import { keyOf } from '../records/kinds.ts';
import type { TargetRecord } from '../records/target.ts';
import type { TransactionRecord } from '../records/transaction.ts';
import { applyPersist } from './apply.ts';
import { causesOf } from './causes.ts';
import type { EngineCore } from './core.ts';
import { FirstWrites } from './first-writes.ts';
import { gather } from './gather.ts';
import type { Causes } from './incident-book.ts';
import { type Held, put } from './journal.ts';
import { begun, Lane } from './lane.ts';
import { perform } from './perform.ts';
import { changesTheWorld, moveInReadings, wantsMore } from './readings.ts';
import { Teller } from './teller.ts';
import { Vigil } from './vigil.ts';
import { launchIn } from './witness.ts';

/** Steps that one wake may take before the actor yields to others; nothing legitimate needs as many. */
const STEPS_PER_WAKE = 256;
/** Wait after the store could not be read or written. */
const STORE_PAUSE_MS = 500;

/**
 * Runs the transactions of one target: one at the head of its queue and those whose displaced processes still leave.
 * Serial per target, woken by events; an effect never holds up another target.
 */
export class TargetActor {
  readonly target: string;
  readonly #core: EngineCore;
  record: Held<TargetRecord> | null = null;
  readonly lanes = new Map<string, Lane>();
  readonly vigil: Vigil;
  readonly #teller: Teller;
  readonly #firstWrites = new FirstWrites();
  /** What is amiss beside what transactions and continuity say. */
  readonly #faults = new Map<IncidentCode, string>();
  #concerns: readonly Concern[] = [];
  #stale = true;
  #awake = false;
  #turning: Promise<void> | null = null;

  constructor(core: EngineCore, target: string) {
    this.#core = core;
    this.target = target;
    this.vigil = new Vigil(core, this);
    this.#teller = new Teller(core, target);
  }

  /** The transaction at the head of the queue. */
  get head(): TransactionRecord | null {
    const id = this.record?.value.queue[0];
    return id === undefined ? null : (this.lanes.get(id)?.tx ?? null);
  }

  /**
   * What is admitted and runs as that; `null` while it is gone, a transaction owns it and tells of it itself, or
   * another holds its lease, for which a person was called.
   */
  get standing(): TargetRecord['admitted'] {
    const { admitted = null, stranded = null, takenBy = null, restart = null } = this.record?.value ?? {};
    if (stranded !== null || takenBy !== null || restart !== null || this.vigil.isGone) return null;
    return admitted?.handle.identity.bootId === this.#core.ports.clock.bootId ? admitted : null;
  }

  /** A deployment is about to change the graph. */
  get atDoor(): boolean {
    return isAtDoor(this.head);
  }

  /** A restart has begun: its lane is there at once, from the records as they were written. */
  began(record: Held<TargetRecord>, transaction: Held<TransactionRecord>): void {
    this.record = record;
    this.lanes.set(transaction.value.id, new Lane(transaction.value, transaction.generation));
    this.#teller.began(transaction.value);
    this.#again();
  }

  /** Something happened that this target may have to act on. */
  wake(): void {
    this.#awake = true;
    if (this.#turning !== null || this.#core.stopped) return;
    this.#turning = this.#run().finally(() => {
      this.#turning = null;
      if (this.#awake) this.wake();
    });
  }

  /** The queue was changed by a command. */
  invalidate(): void {
    this.#stale = true;
    this.wake();
  }

  doubt(): void {
    for (const lane of this.lanes.values()) lane.doubt();
    this.vigil.doubt();
    this.wake();
  }

  /** A lease connection has closed. */
  closed(activation: string): void {
    for (const lane of this.lanes.values()) lane.forgetChannel(activation);
    this.doubt();
  }

  /** A link is back. */
  linked(): void {
    for (const lane of this.lanes.values()) lane.forgetRefusals();
    this.vigil.linked();
    this.doubt();
  }

  /** The first write under an epoch, as the program signed it. */
  wrote(activation: string, first: { readonly epoch: number; readonly atMs: number }): void {
    this.#firstWrites.take(activation, first);
  }

  /** Resolves when the step at hand has ended. */
  async settled(): Promise<void> {
    await this.#turning;
  }

  /** The proxy has no open request towards an incarnation that left: its drain need not be asked again (F25). */
  drained(incarnation: string): void {
    for (const lane of this.lanes.values()) {
      const key = `open-requests ${incarnation}`;
      const known = lane.answers.get(key);
      if (known !== undefined) lane.remember(key, { ...known, outcome: ok(0) });
    }
    this.wake();
  }

  /** Death is to arrive as an event for every process that a transaction launched before this engine began. */
  watchLaunches(): void {
    for (const { tx } of this.lanes.values()) {
      const launch = launchIn(tx);
      if (launch?.step === 'observed' || launch?.step === 'current') this.#core.ports.workload.watch(launch.handle);
    }
  }

  abortAll(): void {
    for (const lane of this.lanes.values()) lane.abort();
    this.vigil.stop();
  }

  /** What a person should look at, from what is known now. */
  causes(): Causes {
    return causesOf(this.#faults, this.#concerns, this.lanes.values());
  }

  concerned(concerns: readonly Concern[]): void {
    this.#concerns = concerns;
  }

  #report(): void {
    const causes = this.causes();
    this.#core.incidents.report(this.target, causes, 'work', hiddenBy(causes.keys()));
  }

  async #run(): Promise<void> {
    for (let steps = 0; this.#awake && steps < STEPS_PER_WAKE && !this.#core.stopped; steps += 1) {
      this.#awake = false;
      try {
        if (this.#stale) await this.load();
        if (!this.#stale && isAtDoor(this.head)) await this.vigil.turn();
        for (const lane of this.#inOrder()) await this.#turn(lane);
        if (!this.#stale) await this.vigil.turn();
        this.#faults.clear();
        this.#report();
      } catch (fault) {
        this.#pause(fault);
        return;
      }
    }
  }

  /** A store that cannot be read or written is loud, and nothing is acted on until it can (F28). */
  #pause(fault: unknown): void {
    if (this.#core.stopped) return;
    this.#core.fault(fault, this.target);
    const told = fault instanceof Error ? fault.message : String(fault);
    this.#faults.set(fault instanceof StoreFault ? 'store-fault' : 'engine-fault', told);
    this.#report();
    this.#stale = true;
    this.#awake = false;
    this.#core.ports.timers.after(STORE_PAUSE_MS, () => this.wake());
  }

  /**
   * The records as they are now, or as they were just read with all others; lanes keep their memory, records that
   * changed are taken anew.
   */
  async load(known?: Held<TargetRecord>): Promise<void> {
    this.#stale = false;
    this.record = known ?? (await this.#core.journal.read('target', this.target));
    const target = this.record?.value;
    if (target === undefined) return;
    const wanted = atWork(target);
    for (const [id, lane] of this.lanes) if (!wanted.includes(id)) await this.#missed(lane);
    for (const id of wanted) {
      const held = await this.#core.journal.read('transaction', id);
      if (held === null) throw new Error(`the transaction ${id} of ${this.target} is not recorded`);
      const lane = this.lanes.get(id);
      if (lane === undefined) this.lanes.set(id, new Lane(held.value, held.generation));
      else if (lane.generation !== held.generation) {
        this.#teller.missed(lane, held.value);
        lane.tx = held.value;
        lane.generation = held.generation;
        lane.doubt();
      }
    }
  }

  /** A transaction that has left, which a lost answer of the store told nobody. */
  async #missed(lane: Lane): Promise<void> {
    const held = await this.#core.journal.read('transaction', lane.tx.id);
    if (held !== null) this.#teller.missed(lane, held.value);
    this.#drop(lane.tx.id);
    this.#core.concluded(this.target);
  }

  #drop(id: string): void {
    this.lanes.get(id)?.abort();
    this.lanes.delete(id);
  }

  #inOrder(): readonly Lane[] {
    const target = this.record?.value;
    if (target === undefined) return [];
    return atWork(target)
      .map((id) => this.lanes.get(id))
      .filter((lane) => lane !== undefined);
  }

  async #turn(lane: Lane): Promise<void> {
    if (lane.tx.ended || lane.busy) return;
    // An observer that is back is told first what stands, so that what disagrees shows before the graph changes (I4).
    if (isAtDoor(lane.tx) && this.vigil.acting) return;
    if (this.record === null) return;
    const evidence = await gather(this.#core, lane, this.record.value, this.#firstWrites.shown);
    if (this.#core.stopped || this.#stale) return this.#again();
    const decision = this.#core.decide(lane.tx, evidence);
    this.#teller.reached(lane, decision, evidence.now);
    switch (decision.kind) {
      case 'persist':
        return this.#persist(lane, decision);
      case 'act':
        return this.#act(lane, decision);
      case 'wait':
        return this.#wait(lane, decision);
    }
  }

  #again(): void {
    this.#awake = true;
  }

  async #persist(lane: Lane, decision: Persist): Promise<void> {
    const record = this.record;
    if (record === null) return;
    const now = moment(this.#core.ports.clock);
    const applied = applyPersist(lane.tx, record.value, decision, now);
    const mutations: Mutation[] = [
      put('transaction', lane.tx.id, applied.tx, lane.generation),
      put('target', this.target, applied.target, record.generation),
      ...(decision.extra ?? []).map(({ kind, id, value }) => ({
        ...put(kind, id, null),
        key: keyOf(kind, id),
        next: value as Mutation['next'],
      })),
    ];
    const result = await this.#core.journal.commit(mutations, applied.history);
    if (result.kind === 'unknown') throw new StoreFault('store-write-failed', result.because);
    if (result.kind === 'conflict') {
      this.#stale = true;
      return this.#again();
    }
    const before = lane.tx;
    if (wantsMore(before, applied.tx)) lane.doubt();
    // Whoever owned the target moved what others had read of it.
    if (applied.target.takenBy !== record.value.takenBy) this.#doubtOthers(lane);
    lane.tx = applied.tx;
    lane.generation = result.generations[0] ?? lane.generation;
    this.record = { value: applied.target, generation: result.generations[1] ?? record.generation };
    this.#teller.waits(lane, null, now);
    if (before.state.phase !== applied.tx.state.phase) lane.abandonLong();
    this.#teller.persisted(lane, before, decision, now);
    if (applied.tx.ended) this.#drop(lane.tx.id);
    if (decision.leaves !== undefined) {
      this.#stale = true;
      this.#core.concluded(this.target);
    }
    this.#again();
  }

  #doubtOthers(lane: Lane): void {
    for (const other of this.lanes.values()) if (other !== lane) other.doubt();
  }

  #act(lane: Lane, { effect, beside = [] }: Act): void {
    for (const each of [effect, ...beside]) {
      const key = effectKey(each);
      if (lane.running.has(key)) continue;
      lane.running.set(key, begun(each));
      void this.carryOut(lane, key);
    }
    if (!lane.busy) this.#again();
  }

  /** Carries out an effect that was begun; what came of it is remembered unless the lane has given it up. */
  async carryOut(lane: Lane, key: string): Promise<void> {
    const now = lane.running.get(key);
    if (now === undefined) return;
    const { effect, abort } = now;
    const attempts = (lane.answers.get(key)?.attempts ?? 0) + 1;
    const { ports, library } = this.#core;
    const progress = (note: { step: string; text: string }): void => this.#teller.progress(lane.tx.id, note);
    const context = {
      ports,
      library,
      target: this.target,
      signal: abort.signal,
      progress,
      takenPorts: this.#core.takenPorts,
    };
    const outcome = await this.#core.building(effect.kind, () => perform(context, effect));
    if (this.#core.stopped || lane.running.get(key) !== now) return;
    lane.running.delete(key);
    lane.remember(key, { effect, outcome, atMs: ports.clock.monotonicMs(), attempts });
    if (changesTheWorld(effect, { outcome })) lane.doubt();
    else if (effect.kind === 'swap') moveInReadings(lane, effect);
    this.wake();
  }

  #wait(lane: Lane, decision: Wait): void {
    this.#teller.waits(lane, decision, moment(this.#core.ports.clock));
    lane.clearTimer();
    const due = [decision.wakeAtMs, decision.untilMs].filter((atMs) => atMs !== null);
    if (due.length === 0) return;
    const delayMs = Math.max(1, Math.min(...due) - this.#core.ports.clock.monotonicMs());
    lane.cancelTimer = this.#core.ports.timers.after(delayMs, () => {
      lane.cancelTimer = null;
      lane.doubt();
      this.wake();
    });
  }
}

/** Built, and about to change the graph. */
const isAtDoor = (tx: TransactionRecord | null): boolean => tx?.state.phase === 'sealed' && tx.state.subject !== null;

/** What has a lane: the restart that is under way, the head of the queue, and what still drains. */
const atWork = ({ restart, queue, draining }: TargetRecord): readonly string[] =>
  [restart, queue[0], ...draining].filter((id) => id !== undefined && id !== null);
