import {
  createEngine,
  type decide,
  type decideContinuity,
  type EngineApi,
  type EngineEvent,
  type EnginePorts,
  QUEUE_LIMIT,
  RECORD_KINDS,
  type TransactionResult,
} from '@idunn/authority';
import type { RecordStore } from '@idunn/kernel';
import { check } from './checkers/check.ts';
import { admittedByTarget, settled } from './checkers/continuity.ts';
import type { Violation } from './checkers/judged.ts';
import { type FakeStore, type FakeStoreHook, fakeStore, type WriteFate } from './fake-store.ts';
import { befall } from './misfortune.ts';
import { fakeChannel } from './ports/channel.ts';
import { fakeFreeze } from './ports/freeze.ts';
import { fakeLease } from './ports/lease.ts';
import { type Fate, Life } from './ports/life.ts';
import { fakeObserver } from './ports/observer.ts';
import { fakeRelease } from './ports/release.ts';
import { fakeRoute } from './ports/route.ts';
import { fakeWorkload } from './ports/workload.ts';
import { lastFaultMs, type Scenario } from './scenario.ts';
import { type Dice, dice } from './seed.ts';
import type { FaultName, Strike } from './strikes.ts';
import { VirtualTime } from './virtual-time.ts';
import { Clients } from './world/clients.ts';
import { OTHER_KIND, refOf } from './world/sources.ts';
import { silent, World } from './world/world.ts';

/** How long a dead engine stays away, and when the world gives up on a run. */
const DOWN_MS = 25;
const RUN_LIMIT_MS = 400_000;
/** How much longer a target may take that waits for its next restart. */
const SETTLE_LIMIT_MS = 700_000;
/** One durable write in so many is checked against its schema and carried as text. */
const ENCODES_EVERY = 64;

/** How long a freeze, a hold or an outage lasts that strikes a phase. */
const STRIKE_MS = 400;
const FATES: Partial<Record<FaultName, Fate>> = {
  'answer-lost': 'lost',
  'answer-late': 'late',
  'effect-doubled': 'doubled',
};

export interface Report {
  readonly violations: readonly Violation[];
  /** Crash points that the run passed: one before and one after each effect and durable write. */
  readonly points: number;
  readonly results: readonly (TransactionResult | null)[];
  readonly world: World;
  /** Of those, the ones that lay behind each command when it was taken. */
  readonly begun: readonly number[];
  /** The phase that was last told of when the scenario’s misfortune struck. */
  readonly struckIn: string | null;
  readonly crashes: number;
  readonly acked: number;
  /** Faults of the engine's own, the store's declared ones apart: there must be none. */
  readonly faults: readonly unknown[];
}

/** Variants of the decisions, where a run is to break a promise. */
export interface Broken {
  readonly decide?: typeof decide;
  readonly decideContinuity?: typeof decideContinuity;
}

/** One world, and the lives of the engines that follow one another in it. */
export class Simulation {
  readonly #scenario: Scenario;
  readonly #broken: Broken;
  readonly time = new VirtualTime();
  readonly #dice: Dice;
  readonly world: World;
  readonly #store: FakeStore;
  readonly #clients = new Map<string, Clients>();
  #life: Life | null = null;
  engine: EngineApi | null = null;
  /** How often the record store was asked for anything. */
  reads = 0;
  /** What the engines told, in order. */
  readonly told: EngineEvent[] = [];
  readonly #ordered = new Set<number>();
  readonly #orderedAbout = new Map<number, string>();
  /** Transactions that orders began: they end as well. */
  readonly #alsoAwaited = new Map<string, TransactionResult | null>();
  /** Strikes that were made. */
  readonly struck = new Set<Strike>();
  /** What the next effect or durable write is to meet. */
  #next: FaultName | null = null;
  #points = 0;
  readonly #begun: number[] = [];
  #phase: string | null = null;
  #struckIn: string | null = null;
  #crashes = 0;
  #ids = 0;
  readonly #faults: unknown[] = [];
  readonly #receipts: (string | null)[];
  readonly #results: (TransactionResult | null)[];

  constructor(scenario: Scenario, broken: Broken = {}) {
    this.#scenario = scenario;
    this.#broken = broken;
    this.#dice = dice(scenario.seed + 7);
    this.world = new World(this.time, this.#dice);
    this.#receipts = scenario.deploys.map(() => null);
    this.#results = scenario.deploys.map(() => null);
    const hook: FakeStoreHook = {
      beforeWrite: () => (this.#dies('before a durable write') ? 'die' : this.#uncertain()),
      afterWrite: () => {
        if (this.#dies('after a durable write')) return 'die';
        const fate = this.#uncertain();
        return fate === 'full' ? 'go' : fate;
      },
    };
    this.#store = fakeStore(RECORD_KINDS, hook, { encodesEvery: ENCODES_EVERY, from: scenario.seed });
    for (const [target, { routed, stores }] of Object.entries(scenario.shapes)) {
      if (routed && stores > 0) this.#clients.set(target, new Clients(this.world, target));
    }
  }

  get shapes(): Scenario['shapes'] {
    return this.#scenario.shapes;
  }

  /** Lets virtual time pass. */
  async pass(ms: number): Promise<void> {
    await this.time.run(() => false, this.time.nowMs + ms);
  }

  /** Asks the engine that lives now; virtual time passes until it has answered. */
  async ask<T>(question: (engine: EngineApi) => Promise<T>): Promise<T> {
    const engine = this.engine;
    if (engine === null) throw new Error('no engine lives now');
    let answer: { value: T } | null = null;
    const asked = async (): Promise<void> => {
      answer = { value: await question(engine) };
    };
    void asked();
    await this.time.run(() => answer !== null, this.time.nowMs + 60_000);
    if (answer === null) throw new Error('the engine did not answer');
    return (answer as { value: T }).value;
  }

  /** Lets time pass until the transaction has a result. */
  async resultOf(transaction: string): Promise<TransactionResult> {
    for (let waitedMs = 0; waitedMs < RUN_LIMIT_MS; waitedMs += 10) {
      const view = await this.ask((engine) => engine.transaction(transaction));
      if (view !== null && view.result !== null) return view.result;
      await this.pass(10);
    }
    throw new Error(`${transaction} did not end`);
  }

  async run(): Promise<Report> {
    this.#schedule();
    for (const clients of this.#clients.values()) clients.begin();
    this.begin();
    const answered = (): boolean =>
      [...this.#results, ...this.#alsoAwaited.values()].every((result) => result !== null);
    // Every fault of the scenario has its turn before the world is judged.
    await this.time.run(() => false, lastFaultMs(this.#scenario));
    const ended = await this.time.run(answered, RUN_LIMIT_MS);
    for (const clients of this.#clients.values()) clients.stop();
    await this.time.run(() => false, this.time.nowMs + 20_000);
    // A restart may wait up to its cap.
    for (let waitedMs = 0; waitedMs < SETTLE_LIMIT_MS && !this.#settled(); waitedMs += 5_000) await this.pass(5_000);
    await this.#refresh(true);
    return {
      violations: check({
        world: this.world,
        clients: this.#clients,
        ended,
        results: this.#results,
        deploys: this.#scenario.deploys,
        shapes: this.#scenario.shapes,
        lossless:
          this.#scenario.lostChance === 0 && !this.#scenario.strikes?.some(({ fault }) => fault === 'answer-lost'),
        scenario: this.#scenario,
        faults: this.#faults,
      }),
      points: this.#points,
      begun: this.#begun,
      struckIn: this.#struckIn,
      results: this.#results,
      world: this.world,
      crashes: this.#crashes,
      acked: this.world.ledger.of('acked').length,
      faults: this.#faults,
    };
  }

  /** Whoever was told admitted last lives, on every target: what must come true once faults cease. */
  #settled(): boolean {
    return [...admittedByTarget(this.world).keys()].every((target) => settled(this.world, target));
  }

  #schedule(): void {
    const { deploys, kills, freezes, observerDown, wallSteps } = this.#scenario;
    const time = this.time;
    const world = this.world;
    deploys.forEach((_, index) => time.after(deploys[index]?.atMs ?? 0, () => void this.#submit(index)));
    for (const { target, atMs } of kills) time.after(atMs, () => this.kill(target));
    for (const [stop, spans] of [
      ['freeze', freezes],
      ['hold', this.#scenario.holds],
    ] as const) {
      for (const { target, fromMs, untilMs, unreadable } of spans) {
        const engaged = unreadable ? 'unreadable' : { by: 'ops', reason: 'audit' };
        time.after(fromMs, () => world.stop(stop, target, engaged));
        time.after(untilMs, () => world.stop(stop, target, null));
      }
    }
    for (const { atMs } of this.#scenario.reboots) time.after(atMs, () => this.reboot());
    this.#scenario.orders.forEach((order, index) => time.after(order.atMs, () => void this.#order(order, index)));
    for (const { fromMs, untilMs } of observerDown) {
      time.after(fromMs, () => this.observer(false));
      time.after(untilMs, () => this.observer(true));
    }
    for (const { atMs, byMs } of wallSteps) time.after(atMs, () => time.stepWall(byMs));
  }

  /** Kills the engine and every process, and begins a new boot. */
  reboot(): void {
    this.#life?.die('reboot');
    this.world.reboot();
  }

  observer(up: boolean): void {
    this.world.observerUp = up;
    this.world.ledger.note({ kind: 'observer', up });
    this.world.listeners.link(up ? 'up' : 'down');
    if (up) this.world.observerReturned();
  }

  /** The one that holds the lease, or any that lives, is killed from outside. */
  kill(target: string): void {
    const named = this.world.named(target)?.activation;
    const living = [...this.world.processes.values()].filter((one) => one.alive && one.activation.target === target);
    const victim = living.find(({ id }) => id === named) ?? living[0];
    if (victim !== undefined) this.world.end(victim, false);
  }

  #dies(at: string): boolean {
    this.#points += 1;
    if (this.#befalls()) return true;
    const scheduled = this.#points === this.#scenario.crashAt;
    const rolled = this.#crashes < 4 && this.#scenario.crashChance > 0 && this.#dice.hits(this.#scenario.crashChance);
    if (!scheduled && !rolled) return false;
    this.#life?.die(at);
    return true;
  }

  #uncertain(): WriteFate {
    if (this.#next === 'write-unknown' || this.#next === 'disk-full') {
      const fate = this.#next === 'disk-full' ? 'full' : 'unknown';
      this.#next = null;
      return fate;
    }
    const { uncertainChance } = this.#scenario;
    return uncertainChance > 0 && this.#dice.hits(uncertainChance) ? 'unknown' : 'go';
  }

  #fate(name: string): Fate {
    if (this.#dies(`before ${name}`)) return 'die-before';
    const { lostChance, lateChance = 0, doubledChance = 0 } = this.#scenario;
    const next = this.#next === null ? undefined : FATES[this.#next];
    if (next !== undefined) {
      this.#next = null;
      return next;
    }
    if (lostChance > 0 && this.#dice.hits(lostChance)) return 'lost';
    if (lateChance > 0 && this.#dice.hits(lateChance)) return 'late';
    if (doubledChance > 0 && this.#dice.hits(doubledChance)) return 'doubled';
    this.#points += 1;
    return this.#befalls() || this.#points === this.#scenario.crashAt ? 'die-after' : 'go';
  }

  /** What the scenario has for this point befalls the world; answers whether the engine dies of it. */
  #befalls(): boolean {
    const { misfortune } = this.#scenario;
    if (misfortune?.at !== this.#points) return false;
    this.#struckIn = this.#phase;
    return befall(this, misfortune.what);
  }

  /** A new engine over what is durable; nothing else comes back. */
  begin(): void {
    const world = this.world;
    world.listeners = silent();
    const life = new Life(
      world,
      (name) => this.#fate(name),
      (at) => this.#died(at),
    );
    const observer = fakeObserver(world, life);
    const ports: EnginePorts = {
      clock: this.time.clock,
      timers: { after: (delayMs, fire) => this.time.after(delayMs, () => life.deliver(fire)) },
      ids: { fresh: (prefix) => `${prefix}-${(this.#ids += 1)}` },
      store: this.#counted(this.#store.open()),
      release: fakeRelease(world, life, {
        shapeOf: (target) => this.#scenario.shapes[target] ?? { stores: 0, routed: false },
        schemaOf: (ref) => (ref.includes('!') ? 'events-v2' : 'events-v1'),
        headOf: () => refOf('good', 1),
      }),
      workload: fakeWorkload(world, life),
      channel: fakeChannel(world, life),
      lease: fakeLease(world, life),
      route: fakeRoute(world, life, this.#clients),
      freeze: fakeFreeze(world, life),
      observerFor: () => observer,
    };
    const options = {
      fleet: 'simulated',
      machine: 'local',
      observerTarget: this.#scenario.observerTarget ?? null,
      targets: () => Object.keys(this.#scenario.shapes),
      queueDepth: () => this.#scenario.queueDepth ?? QUEUE_LIMIT,
      onFault: (fault: unknown) => this.#faults.push(fault),
    };
    const engine = createEngine(ports, options, this.#broken.decide, this.#broken.decideContinuity);
    this.#life = life;
    this.engine = engine;
    engine.subscribe((event) => {
      if (life.alive) this.told.push(event);
      if (life.alive && event.event === 'phase' && event.tookMs === null) this.#enter(event);
      if (event.event === 'queued') this.#begun.push(this.#points);
      if (event.event === 'phase' && event.tookMs === null) this.#phase = event.phase;
      if (!life.alive || event.event !== 'outcome') return;
      if (event.outcome === 'admitted') this.#told('told-admitted', event.target, event.incarnation);
      if (event.outcome === 'restored') this.#told('told-restored', event.target, event.incarnation);
      void this.#refresh();
    });
    void engine.start().then(() => this.#refresh());
  }

  /** A transaction enters a phase: what is to befall it there does, as soon as the engine has gone on. */
  #enter({ transaction, target, phase }: Extract<EngineEvent, { event: 'phase' }>): void {
    for (const strike of this.#scenario.strikes ?? []) {
      if (this.struck.has(strike) || strike.phase !== phase || this.kindOf(transaction) !== strike.kind) continue;
      // Where there is an earlier deployment, it is the last that is struck.
      if (strike.kind === 'deploy' && this.#receipts.at(-1) !== transaction) continue;
      this.struck.add(strike);
      this.time.after(0, () => this.#strike(strike.fault, target, transaction));
    }
  }

  kindOf(transaction: string): Strike['kind'] {
    if (this.#receipts.includes(transaction)) return 'deploy';
    return this.#alsoAwaited.has(transaction) ? 'restart' : 'continuity';
  }

  #strike(fault: FaultName, target: string, transaction: string): void {
    const { world, time } = this;
    const about = { operationId: `strike-${fault}`, actor: 'ops', tenant: 'local', transaction };
    const ended = (stop: 'freeze' | 'hold'): void => {
      world.stop(stop, target, { by: 'ops', reason: 'audit' });
      time.after(STRIKE_MS, () => world.stop(stop, target, null));
    };
    switch (fault) {
      case 'daemon-killed':
        return this.crash('a strike');
      case 'holder-killed':
        return this.kill(target);
      case 'candidate-killed': {
        const named = world.named(target)?.activation;
        const living = [...world.processes.values()].filter((one) => one.alive && one.activation.target === target);
        const victim = living.findLast(({ id }) => id !== named) ?? living.at(-1);
        return victim === undefined ? undefined : world.end(victim, false);
      }
      case 'machine-rebooted':
        return this.reboot();
      case 'observer-gone':
        time.after(STRIKE_MS, () => this.observer(true));
        return this.observer(false);
      case 'clock-stepped':
        return time.stepWall(-3_600_000);
      case 'frozen':
        return ended('freeze');
      case 'held':
        return ended('hold');
      case 'cancelled':
        return void this.engine?.submit({ ...about, kind: 'cancel' });
      case 'expired':
        return void this.engine?.submit({ ...about, kind: 'expire' });
      case 'answer-lost':
      case 'answer-late':
      case 'effect-doubled':
      case 'write-unknown':
      case 'disk-full':
        this.#next = fault;
    }
  }

  #counted(store: RecordStore): RecordStore {
    const count = <T>(answer: T): T => {
      this.reads += 1;
      return answer;
    };
    return { ...store, get: (key) => count(store.get(key)), list: (...asked) => count(store.list(...asked)) };
  }

  #told(kind: 'told-admitted' | 'told-restored', target: string, incarnation: TransactionResult['incarnation']): void {
    const world = this.world;
    const { stores, routed } = this.#scenario.shapes[target] ?? { stores: 0, routed: false };
    world.ledger.note({
      kind,
      incarnation,
      row: stores > 0 ? (world.named(target)?.activation ?? 'nobody') : null,
      route: routed ? (world.route(target)?.members.map(({ activation }) => activation) ?? []) : null,
    });
  }

  /** Kills the engine that lives now. */
  crash(at: string): void {
    this.#life?.die(at);
  }

  #died(at: string): void {
    this.#crashes += 1;
    // A program that was being spawned goes down with the daemon: its launcher never let it run.
    if (at === 'after start') this.#tearSpawn();
    this.world.ledger.note({ kind: 'crash', at });
    this.world.listeners = silent();
    this.#store.crash();
    this.engine = null;
    this.time.after(DOWN_MS, () => this.begin());
  }

  #tearSpawn(): void {
    const last = [...this.world.processes.values()].at(-1);
    if (last !== undefined && this.#scenario.seed % 2 === 1) this.world.end(last, false);
  }

  /** The same operation id again and again, until it is answered (I12). */
  async #submit(index: number): Promise<void> {
    const deploy = this.#scenario.deploys[index];
    if (deploy === undefined || this.#receipts[index] !== null) return;
    const again = (): void => void this.time.after(40, () => void this.#submit(index));
    again();
    const engine = this.engine;
    if (engine === null) return;
    const { target, behaviour, revision, newSchema, otherKind } = deploy;
    const taken = await engine.submit({
      kind: 'up',
      target,
      ref: `${refOf(behaviour, revision)}${newSchema === true ? '!' : ''}${otherKind === true ? OTHER_KIND : ''}`,
      operationId: `operation-${index}`,
      actor: 'ada',
      tenant: 'local',
    });
    if (taken.ok) this.#receipts[index] = taken.value.transaction;
    await this.#refresh();
  }

  /** An operator's order about whatever the target has at work then, repeated under its id until it is answered. */
  async #order(order: Scenario['orders'][number], index: number): Promise<void> {
    if (this.#ordered.has(index)) return;
    this.time.after(40, () => void this.#order(order, index));
    const engine = this.engine;
    if (engine === null) return;
    const about = { operationId: `order-${index}`, actor: 'ops', tenant: 'local' };
    if (order.kind === 'restart') {
      const taken = await engine.submit({ ...about, kind: 'restart', target: order.target });
      if (taken.ok) this.#alsoAwaited.set(taken.value.transaction, null);
    } else {
      const view = await engine.target(order.target);
      const transaction = this.#orderedAbout.get(index) ?? view?.transaction?.id ?? 'none';
      this.#orderedAbout.set(index, transaction);
      await engine.submit({ ...about, kind: order.kind, transaction });
    }
    this.#ordered.add(index);
  }

  /** Reads what has come of the commands; in the end also again of those that had ended. */
  async #refresh(all = false): Promise<void> {
    const engine = this.engine;
    if (engine === null) return;
    for (const [index, id] of this.#receipts.entries()) {
      if (id === null || (!all && this.#results[index] !== null)) continue;
      const view = await engine.transaction(id);
      if (view !== null) this.#results[index] = view.result;
    }
    for (const [id, result] of this.#alsoAwaited) {
      if (result === null) this.#alsoAwaited.set(id, (await engine.transaction(id))?.result ?? null);
    }
  }
}
