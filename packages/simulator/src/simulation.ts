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
import { admittedByTarget, unsettled } from './checkers/continuity.ts';
import type { Violation } from './checkers/judged.ts';
import { type Backup, type FakeStore, type FakeStoreHook, fakeStore } from './fake-store.ts';
import { Fortune } from './fortune.ts';
import { Operators } from './operators.ts';
import { fakePorts } from './ports/all.ts';
import { Life } from './ports/life.ts';
import { Rival } from './rival.ts';
import { lastFaultMs, type Scenario } from './scenario.ts';
import { done, schedule } from './schedule.ts';
import { dice } from './seed.ts';
import { type Struck, strike } from './strike.ts';
import type { FaultName, Strike } from './strikes.ts';
import { VirtualTime } from './virtual-time.ts';
import { answering, askAgain } from './world/asked.ts';
import { Clients } from './world/clients.ts';
import { observerReturned } from './world/observer-returned.ts';
import { noteTold } from './world/told.ts';
import { holderOf } from './world/who.ts';
import { silent, World } from './world/world.ts';

/** How long a dead engine stays away, and when the world gives up on a run. */
const DOWN_MS = 25;
const RUN_LIMIT_MS = 400_000;
/** How much longer a target may take that waits for its next restart. */
const SETTLE_LIMIT_MS = 700_000;
const SETTLE_STEP_MS = 5_000;
/** One durable write in so many is checked against its schema and carried as text. */
const ENCODES_EVERY = 64;

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
  /** What befell the run: all that its scenario did to the world, and what effects and durable writes met. */
  readonly befell: readonly string[];
  /** Each transaction that was begun, by its kind. */
  readonly transactions: readonly Strike['kind'][];
  /** Faults of the engine's own, the store's declared ones apart: there must be none. */
  readonly faults: readonly unknown[];
}

/** Variants of the decisions, where a run is to break a promise. */
export interface Broken {
  readonly decide?: typeof decide;
  readonly decideContinuity?: typeof decideContinuity;
  /** Around what one engine is given. */
  readonly ports?: (ports: EnginePorts) => EnginePorts;
}

/** One world, and the lives of the engines that follow one another in it. */
export class Simulation implements Struck {
  readonly #scenario: Scenario;
  readonly #broken: Broken;
  readonly time = new VirtualTime();
  readonly world: World;
  readonly #fortune: Fortune;
  readonly #operators: Operators;
  readonly #store: FakeStore;
  readonly #rival: Rival | null;
  readonly #clients = new Map<string, Clients>();
  #life: Life | null = null;
  engine: EngineApi | null = null;
  /** How often the record store was asked for anything. */
  reads = 0;
  /** What the engines told, in order. */
  readonly told: EngineEvent[] = [];
  /** Strikes that were made. */
  readonly struck = new Set<Strike>();
  readonly #begun: number[] = [];
  #ids = 0;
  #backup: Backup | null = null;
  /** The next engine begins with records that were put back. */
  #isRestored = false;
  readonly #faults: unknown[] = [];

  constructor(scenario: Scenario, broken: Broken = {}) {
    this.#scenario = scenario;
    this.#broken = broken;
    const roll = dice(scenario.seed + 7);
    this.world = new World(this.time, roll);
    this.#fortune = new Fortune(scenario, roll, this);
    this.#operators = new Operators(scenario, this.time, () => this.engine);
    this.#rival = this.#rivalOf(scenario);
    const hook: FakeStoreHook = {
      beforeWrite: () => this.#fortune.beforeWrite(),
      afterWrite: ({ mutations }) => {
        this.world.ledger.note({ kind: 'durable', mutations });
        return this.#fortune.afterWrite();
      },
    };
    this.#store = fakeStore(RECORD_KINDS, hook, { encodesEvery: ENCODES_EVERY, from: scenario.seed });
    for (const [target, { routed, stores }] of Object.entries(scenario.shapes)) {
      if (routed && stores > 0) this.#clients.set(target, new Clients(this.world, target));
    }
  }

  /** What came of the commands of the other authority. */
  get rivalResults(): readonly TransactionResult[] {
    return [...(this.#rival?.results.values() ?? [])];
  }

  #rivalOf({ rival, shapes }: Scenario): Rival | null {
    const shape = rival === undefined ? undefined : shapes[rival.target];
    if (rival === undefined || shape === undefined) return null;
    return new Rival(rival, shape, this.world, {
      fresh: (prefix) => `${prefix}-${(this.#ids += 1)}`,
      onFault: (fault) => this.#faults.push(fault),
    });
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
    schedule(this.#scenario, this, this.#operators);
    for (const clients of this.#clients.values()) clients.begin();
    this.begin();
    this.#rival?.begin();
    // Every fault of the scenario has its turn before the world is judged.
    await this.time.run(() => false, lastFaultMs(this.#scenario));
    const ended = await this.time.run(() => this.#operators.answered && this.#rival?.answered !== false, RUN_LIMIT_MS);
    for (const clients of this.#clients.values()) clients.stop();
    await this.time.run(() => false, this.time.nowMs + 20_000);
    await this.#settle();
    // An engine may die over what it is asked again, and then says nothing any more of what is amiss.
    const incidents = this.engine?.incidents() ?? [];
    await this.#over(askAgain(this.world, this.engine));
    const { results } = this.#operators;
    const { points, struckIn, crashes } = this.#fortune;
    return {
      violations: check({
        world: this.world,
        clients: this.#clients,
        ended,
        results,
        deploys: this.#scenario.deploys,
        shapes: this.#scenario.shapes,
        scenario: this.#scenario,
        incidents,
        faults: this.#faults,
      }),
      points,
      begun: this.#begun,
      struckIn,
      results,
      world: this.world,
      crashes,
      acked: this.world.ledger.of('acked').length,
      befell: [...done(this.#scenario), ...this.#fortune.met],
      transactions: this.#operators.kinds(this.world.ledger.of('told-phase')),
      faults: this.#faults,
    };
  }

  /** Lets time pass until a question is over; an engine that dies over it never answers. */
  async #over(asked: Promise<void>): Promise<void> {
    let isOver = false;
    void asked.finally(() => {
      isOver = true;
    });
    await this.time.run(() => isOver, this.time.nowMs + SETTLE_STEP_MS);
  }

  /** Waits for what must come true once faults cease; a restart may wait up to its cap. */
  async #settle(): Promise<void> {
    const { world, shapes } = this;
    for (let waitedMs = 0; ; waitedMs += SETTLE_STEP_MS) {
      await this.#over(this.#operators.refresh(true));
      const judged = { world, shapes, results: this.#operators.results, deploys: this.#scenario.deploys };
      const isSettled = [...admittedByTarget(world).keys()].every((target) => unsettled(judged, target) === null);
      // Records that were put back may have opened again what had ended.
      if ((isSettled && judged.results.every((result) => result !== null)) || waitedMs >= SETTLE_LIMIT_MS) break;
      await this.pass(SETTLE_STEP_MS);
    }
    // A client that waits patiently asks again only a while after what it asks for is back.
    const isAnswered = (): boolean => [...this.#clients.values()].every(({ unanswered }) => unanswered.size === 0);
    let untilMs = this.time.nowMs + SETTLE_STEP_MS;
    while (!isAnswered() && this.time.nowMs < untilMs) {
      await this.time.run(isAnswered, untilMs);
      // So it is with what nobody waited for, and was led to as this wait went on.
      const backMs = world.ledger.of('routed').at(-1)?.atMs ?? 0;
      untilMs = Math.max(untilMs, backMs + SETTLE_STEP_MS);
    }
  }

  /** Kills every engine and every process, and begins a new boot. */
  reboot(): void {
    this.#life?.die('reboot');
    this.#rival?.die('reboot');
    this.world.reboot();
  }

  backUp(): void {
    this.#backup = this.#store.backup();
    this.world.ledger.note({ kind: 'backed-up' });
  }

  restore(): void {
    if (this.#backup === null) return;
    this.#life?.die('restored');
    this.#store.restore(this.#backup);
    this.world.ledger.note({ kind: 'restored' });
    this.#isRestored = true;
  }

  observer(up: boolean): void {
    this.world.observerUp = up;
    this.world.ledger.note({ kind: 'observer', up });
    if (up) observerReturned(this.world);
    this.world.listeners.link(up ? 'up' : 'down');
  }

  /** The one that holds the lease, or any that lives, is killed from outside. */
  kill(target: string): void {
    const victim = holderOf(this.world, target);
    if (victim !== undefined) this.world.end(victim, false);
  }

  meets(fault: FaultName): void {
    this.#fortune.next = fault;
  }

  /** A new engine over what is durable; nothing else comes back. */
  begin(): void {
    const world = this.world;
    world.listeners = silent();
    const life = new Life(world, this.#fortune, (at) => this.#died(at));
    const ports = fakePorts(world, life, {
      shapes: this.#scenario.shapes,
      clients: this.#clients,
      store: this.#counted(this.#store.open()),
      ids: { fresh: (prefix) => `${prefix}-${(this.#ids += 1)}` },
    });
    const options = {
      fleet: 'simulated',
      machine: 'local',
      observerTarget: this.#scenario.observerTarget ?? null,
      targets: () => Object.keys(this.#scenario.shapes),
      queueDepth: () => this.#scenario.queueDepth ?? QUEUE_LIMIT,
      onFault: (fault: unknown) => this.#faults.push(fault),
    };
    const around = this.#broken.ports?.(ports) ?? ports;
    const { decide, decideContinuity } = this.#broken;
    const engine = answering(this.world, createEngine(around, options, decide, decideContinuity));
    this.#rival?.join(world);
    this.#life = life;
    this.engine = engine;
    engine.subscribe((event) => {
      if (event.event === 'queued') this.#begun.push(this.#fortune.points);
      if (event.event === 'phase' && event.tookMs === null) this.#fortune.phase = event.phase;
      if (!life.alive) return;
      this.told.push(event);
      if (event.event === 'phase' && event.tookMs === null) this.#enter(event);
      noteTold(this.world, this.#scenario.shapes, event);
      if (event.event === 'outcome') void this.#operators.refresh();
    });
    void engine.start().then(() => this.#started());
  }

  async #started(): Promise<void> {
    // One that has died over its start is asked nothing: what was put back is still to be made good with the next.
    if (this.engine === null) return;
    // As the daemon does: what the last engine may have died over is told by the next.
    for (const event of this.engine.untold()) noteTold(this.world, this.#scenario.shapes, event);
    if (this.#isRestored) await this.#operators.afterRestoration();
    this.#isRestored = false;
    await this.#operators.refresh();
  }

  /** A transaction enters a phase: what is to befall it there does, as soon as the engine has gone on. */
  #enter({ transaction, target, phase }: Extract<EngineEvent, { event: 'phase' }>): void {
    for (const one of this.#scenario.strikes ?? []) {
      if (this.struck.has(one) || one.phase !== phase || this.#operators.kindOf(transaction) !== one.kind) continue;
      // Where there is an earlier deployment, it is the last that is struck.
      if (one.kind === 'deploy' && this.#operators.last !== transaction) continue;
      this.struck.add(one);
      this.time.after(0, () => strike(this, one, target, transaction));
    }
  }

  #counted(store: RecordStore): RecordStore {
    const count = <T>(answer: T): T => {
      this.reads += 1;
      return answer;
    };
    return { ...store, get: (key) => count(store.get(key)), list: (...asked) => count(store.list(...asked)) };
  }

  /** Kills the engine that lives now. */
  crash(at: string): void {
    this.#life?.die(at);
  }

  #died(at: string): void {
    this.#fortune.crashes += 1;
    // A program that was being spawned goes down with the daemon: its launcher never let it run.
    if (at === 'after start') this.#tearSpawn();
    this.world.ledger.note({ kind: 'crash', at });
    this.world.listeners = silent();
    this.#rival?.join(this.world);
    this.#store.crash();
    this.engine = null;
    this.time.after(DOWN_MS, () => this.begin());
  }

  #tearSpawn(): void {
    const last = [...this.world.processes.values()].at(-1);
    if (last !== undefined && this.#scenario.seed % 2 === 1) this.world.end(last, false);
  }
}
