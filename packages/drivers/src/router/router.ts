import type { Server } from 'node:net';
import type { RouteEvent, RouteMember, RouteState, Staged } from '@idunn/authority';
import { type Clock, type Outcome, ok, type Refusal, refusal, refused, type Timers } from '@idunn/kernel';
import type { RouteContract } from '@idunn/release';
import { LIMITS } from './limits.ts';
import type { Log } from './log.ts';
import { placesOf } from './model/place.ts';
import type { RouterState } from './model/schema.ts';
import { decidePublish, decideStage, type Snapshot, type StageRequest } from './model/snapshot.ts';
import { Listeners } from './proxy/listeners.ts';
import { type Observation, Observations } from './proxy/observations.ts';
import { LiveRoute, type RouteMetrics, type SwitchReport } from './proxy/route.ts';
import { observeStream } from './proxy/stream-observation.ts';
import { openState, type StateKeeper } from './state/keeper.ts';
import { type Inheritance, NOTHING_INHERITED } from './succession/inheritance.ts';
import { Certificates } from './tls/certificates.ts';

export interface RouterOptions {
  readonly fleet: string;
  readonly stateFile: string;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  /** Where the sockets of a predecessor are found. */
  readonly inheritance?: Inheritance;
}

/** What the acknowledgement of a publication vouches for; a `durable` event follows for the loss of power. */
export interface Published {
  readonly generation: number;
  readonly survives: 'router-death' | 'nothing-yet';
}

export interface RouterMetrics {
  readonly pid: number;
  readonly residentBytes: number;
  readonly routes: readonly RouteMetrics[];
}

const REBIND_MS = 1_000;

/** All routes of one fleet, what serves them and what is remembered of them. */
export class Router {
  readonly #options: RouterOptions;
  readonly #certificates: Certificates;
  readonly #listeners: Listeners;
  readonly #observations: Observations;
  readonly #routes = new Map<string, LiveRoute>();
  /** Removed routes towards whose members something is still open. */
  readonly #leaving = new Set<LiveRoute>();
  /** Served routes whose address is taken by somebody else since a restart. */
  readonly #unbound = new Map<string, Refusal>();
  /** Changes of one route come one after the other; those of different routes side by side. */
  readonly #lanes = new Map<string, Promise<unknown>>();
  readonly #subscribers = new Set<(event: RouteEvent) => void>();
  /** Contracts whose staging is under way: their certificates are in use already. */
  readonly #staging = new Set<RouteContract>();
  #generationFloor = 0;
  #keeper: StateKeeper | null = null;

  private constructor(options: RouterOptions) {
    this.#options = options;
    this.#observations = new Observations(options.clock);
    this.#certificates = new Certificates(options.timers, options.log, (what) => {
      if (what === 'served') this.#listeners.refresh();
      this.#emit({ kind: 'certificates' });
    });
    this.#listeners = new Listeners(this.#certificates, options.log, options.inheritance ?? NOTHING_INHERITED);
  }

  /** Opens the state and serves what was acknowledged last. Refuses an unreadable state (F9). */
  static async open(options: RouterOptions): Promise<Outcome<Router>> {
    const router = new Router(options);
    const opened = await openState(options.stateFile, options.fleet, () => router.#render());
    if (!opened.ok) return opened;
    router.#keeper = opened.value.keeper;
    await router.#restore(opened.value.state);
    return ok(router);
  }

  async #restore(state: RouterState): Promise<void> {
    this.#generationFloor = state.generationFloor;
    for (const record of state.routes) {
      const route = this.#newRoute(record.route, record.target);
      this.#routes.set(record.route, route);
      route.switchTo(record.served);
      route.staged = record.staged;
    }
    const routes = [...this.#routes.values()];
    // All before the first listens: whoever shares an inherited address is there from its first request on.
    await Promise.all(routes.map((route) => this.#resumeCertificates(route)));
    await Promise.all(routes.map((route) => this.#rebind(route)));
  }

  async #resumeCertificates({ served, staged }: LiveRoute): Promise<void> {
    for (const snapshot of [served, staged]) {
      if (snapshot !== null) await this.#certificates.resume(snapshot.contract);
    }
  }

  /** An address that is taken keeps its own route down and no other (F26); it is tried again until it is free. */
  async #rebind(route: LiveRoute): Promise<void> {
    if (this.#routes.get(route.name) !== route) return;
    const { staged, served } = route;
    await this.#resumeCertificates(route);
    const [bound, boundToCome] = await Promise.all([
      this.#listeners.bind(placesOf(served?.contract ?? null), route),
      this.#listeners.bind(placesOf(staged?.contract ?? null), route),
    ]);
    if (!boundToCome.ok) route.staged = null;
    if (served === null) return;
    if (bound.ok) {
      this.#unbound.delete(route.name);
      return;
    }
    if (!this.#unbound.has(route.name)) this.#options.log.write(bound.refusal.code, { reason: bound.refusal.reason });
    this.#unbound.set(route.name, bound.refusal);
    this.#options.timers.after(REBIND_MS, () => void this.#rebind(route));
  }

  /**
   * Validates, binds and makes durable; nothing that is served changes (F26). The same request gives the same answer.
   */
  stage(request: StageRequest): Promise<Outcome<Staged>> {
    const { contract } = request;
    this.#staging.add(contract);
    return this.#inLane(contract.name, () => this.#stage(request)).finally(() => this.#staging.delete(contract));
  }

  async #stage(request: StageRequest): Promise<Outcome<Staged>> {
    const { name } = request.contract;
    const records = new Map([...this.#routes].map(([key, route]) => [key, route.record]));
    const decided = decideStage(records, this.#generationFloor, request);
    if (!decided.ok) return decided;
    const snapshot = decided.value;
    const route = this.#routes.get(name) ?? this.#newRoute(name, request.target);
    if (route.staged?.stage === snapshot.stage) return ok({ stage: snapshot.stage, generation: snapshot.generation });
    const usable = await this.#certificates.admit(request.contract);
    const bound = usable.ok ? await this.#listeners.bind(placesOf(request.contract), route) : usable;
    if (!bound.ok) {
      this.#closeUnused(route);
      return bound;
    }
    const before = { staged: route.staged, known: this.#routes.has(name) };
    route.staged = snapshot;
    this.#routes.set(name, route);
    const fault = await this.#persist();
    if (fault?.code === 'router-state-not-written') {
      route.staged = before.staged;
      if (!before.known) this.#routes.delete(name);
    }
    this.#closeUnused(route);
    if (fault !== null) return refused(fault);
    // Now, and not when the hold begins: then everybody waits for the same processors.
    route.warmUp();
    return ok({ stage: snapshot.stage, generation: snapshot.generation });
  }

  /**
   * Switches in memory, lets held requests go, and only then notes it on disk: no sync lies between. A repeat is
   * answered as the first (F8).
   */
  publish(staged: Staged): Promise<Outcome<Published>> {
    const route = this.#routeOfStage(staged.stage);
    if (route === undefined) return Promise.resolve(unknownStage(staged));
    return this.#inLane(route.name, async () => {
      const decision = decidePublish(route.record, staged.stage);
      switch (decision.kind) {
        case 'unknown-stage':
          return unknownStage(staged);
        case 'served-already':
          return ok({
            generation: decision.served.generation,
            survives: this.#opened.intact ? 'router-death' : 'nothing-yet',
          });
        case 'switch':
          return ok(await this.#switch(route, decision.record.served));
      }
    });
  }

  async #switch(route: LiveRoute, snapshot: Snapshot): Promise<Published> {
    const { generation } = snapshot;
    route.staged = null;
    route.switchTo(snapshot);
    const marked = this.#opened.mark(route.name, snapshot.stage, () =>
      this.#emit({ kind: 'durable', route: route.name, generation }),
    );
    this.#unbound.delete(route.name);
    this.#closeUnused(route);
    const survives = (await marked) === 'written' ? 'router-death' : 'nothing-yet';
    this.#options.log.write('published', { route: route.name, generation, survives });
    return { generation, survives };
  }

  /** What is served; `null` without such a route. Refuses while the route's address is held by somebody else. */
  read(name: string): Outcome<RouteState | null> {
    const served = this.#routes.get(name)?.served;
    if (served === null || served === undefined) return ok(null);
    const fault = this.#unbound.get(name);
    if (fault !== undefined) return refused(fault);
    const { generation, contract, members } = served;
    const { listen, protocol, names } = contract;
    const certificates = this.#certificates.states(contract);
    return ok({ route: name, generation, listen, protocol, names, certificates, members });
  }

  hold(name: string, termMs: number): Outcome<'held'> {
    const route = this.#routes.get(name);
    if (route === undefined || route.served === null) return unknownRoute(name);
    route.hold(termMs);
    return ok('held');
  }

  release(name: string): Outcome<'released'> {
    this.#routes.get(name)?.release();
    return ok('released');
  }

  /** Forgets the route durably, then stops listening. A route that is gone already is removed. */
  remove(name: string): Promise<Outcome<'removed'>> {
    return this.#inLane(name, async () => {
      const route = this.#routes.get(name);
      if (route === undefined) return ok('removed');
      const floor = this.#generationFloor;
      this.#routes.delete(name);
      this.#generationFloor = Math.max(floor, route.served?.generation ?? 0);
      const fault = await this.#persist();
      if (fault?.code === 'router-state-not-written') {
        this.#routes.set(name, route);
        this.#generationFloor = floor;
      } else {
        this.#unbound.delete(name);
        this.#leaving.add(route);
        route.switchTo(null);
        this.#closeUnused(route);
        if (route.atRest) this.#leaving.delete(route);
      }
      return fault === null ? ok('removed') : refused(fault);
    });
  }

  /** Requests open towards the incarnation; `null` without such a route. */
  open(name: string, incarnation: string): number | null {
    const routes = this.#named(name);
    return routes.length === 0 ? null : routes.reduce((sum, route) => sum + route.open(incarnation), 0);
  }

  drain(name: string, incarnation: string, withinMs: number): number | null {
    const routes = this.#named(name);
    return routes.length === 0 ? null : routes.reduce((sum, route) => sum + route.drain(incarnation, withinMs), 0);
  }

  switchReport(name: string): SwitchReport | null {
    return this.#routes.get(name)?.report() ?? null;
  }

  expectObservation(route: string, nonce: string): Outcome<'registered'> {
    return this.#observations.register(route, nonce);
  }

  /** Makes a connection through the route's own listener; answers the member that it was connected to. */
  async observeStream(name: string): Promise<Outcome<RouteMember | null>> {
    const route = this.#routes.get(name);
    const contract = route?.served?.contract;
    if (route === undefined || contract === undefined) return unknownRoute(name);
    return ok(await observeStream(contract, route.streams, this.#options.timers));
  }

  /** Reads every certificate file again; what is faulty is told by `read`, and the pair before it goes on serving. */
  reloadCertificates(): Promise<void> {
    return this.#certificates.reload();
  }

  takeObservation(nonce: string): Observation | null {
    return this.#observations.take(nonce);
  }

  metrics(): RouterMetrics {
    const routes = [...this.#routes.values()].map((route) => route.metrics());
    return { pid: process.pid, residentBytes: process.memoryUsage.rss(), routes };
  }

  /** Returns the way to unsubscribe. */
  subscribe(listener: (event: RouteEvent) => void): () => void {
    this.#subscribers.add(listener);
    return () => this.#subscribers.delete(listener);
  }

  /** Why the router cannot be replaced now: what only its memory holds would be lost; `null` when nothing would. */
  busy(): string | null {
    if (this.#leaving.size > 0) return 'a removed route is draining';
    for (const route of this.#routes.values()) {
      if (route.holding) return `route ${route.name} holds its requests`;
      if (!route.atRest) return `route ${route.name} is draining`;
      const states = route.served === null ? [] : this.#certificates.states(route.served.contract);
      const broken = states.find(({ problem }) => problem !== null);
      if (broken !== undefined) return `${broken.file} could not be read again`;
    }
    return null;
  }

  /** The socket that listens on an address. */
  socketOf(address: string): Server | null {
    return this.#listeners.socketOf(address);
  }

  /**
   * Stops listening, lets open requests end within the limit, and writes the state, unless it is a successor's by now.
   */
  async close(state: 'write' | 'leave' = 'write'): Promise<void> {
    const routes = [...this.#leaving, ...this.#routes.values()];
    for (const route of routes) route.notice();
    await this.#listeners.close(
      state === 'write' ? 'at-once' : 'after-answers',
      (fire) => this.#options.timers.after(state === 'write' ? LIMITS.stopMs : LIMITS.succeededMs, fire),
      () => routes.forEach((route) => route.cut()),
    );
    this.#certificates.close();
    if (state === 'write') await this.#opened.close();
  }

  get #opened(): StateKeeper {
    if (this.#keeper === null) throw new Error('the router was not opened');
    return this.#keeper;
  }

  #newRoute(name: string, target: string): LiveRoute {
    const { clock, timers, log } = this.#options;
    const drained = (route: string, { incarnation, activation }: RouteMember): void => {
      for (const leaving of this.#leaving) if (leaving.atRest) this.#leaving.delete(leaving);
      this.#emit({ kind: 'drained', route, incarnation, activation });
    };
    return new LiveRoute(name, target, { clock, timers, log, observations: this.#observations, drained });
  }

  #named(name: string): readonly LiveRoute[] {
    return [...this.#leaving, ...this.#routes.values()].filter((route) => route.name === name);
  }

  #routeOfStage(stage: string): LiveRoute | undefined {
    for (const route of this.#routes.values()) {
      if (route.staged?.stage === stage || route.served?.stage === stage) return route;
    }
    return undefined;
  }

  #closeUnused(route: LiveRoute): void {
    const used = [route.served, route.staged].flatMap((snapshot) => placesOf(snapshot?.contract ?? null));
    this.#listeners.closeAllBut(route, used);
    const contracts = [...this.#routes.values()].flatMap(({ served, staged }) =>
      [served, staged].flatMap((snapshot) => snapshot?.contract ?? []),
    );
    this.#certificates.keep([...contracts, ...this.#staging]);
  }

  #inLane<T>(name: string, change: () => Promise<T>): Promise<T> {
    const before = this.#lanes.get(name) ?? Promise.resolve();
    const lane = before.then(change);
    const settled = lane
      .catch(() => undefined)
      .finally(() => {
        if (this.#lanes.get(name) === settled) this.#lanes.delete(name);
      });
    this.#lanes.set(name, settled);
    return lane;
  }

  async #persist(): Promise<Refusal | null> {
    const written = await this.#opened.persist();
    switch (written.kind) {
      case 'durable':
        return null;
      case 'not-synced':
        return refusal('router-state-not-synced', `The state was replaced, not synced: ${written.because}.`);
      case 'failed':
        return refusal('router-state-not-written', `The state could not be written: ${written.because}.`);
    }
  }

  #render(): Omit<RouterState, 'schema' | 'sequence'> {
    const routes = [...this.#routes.values()].map((route) => ({ ...route.record }));
    return { fleet: this.#options.fleet, generationFloor: this.#generationFloor, routes };
  }

  #emit(event: RouteEvent): void {
    for (const subscriber of this.#subscribers) subscriber(event);
  }
}

const unknownStage = (staged: Staged): Outcome<never> =>
  refused(refusal('route-stage-unknown', `${staged.stage} (generation ${staged.generation}) is not staged.`));

const unknownRoute = (name: string): Outcome<never> =>
  refused(refusal('route-unknown', `The router serves no route ${name}.`));
